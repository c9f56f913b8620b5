/* What the planner and the fits agree on. */
#ifndef GRAM_SOLVE_SOLVER_PLAN_H
#define GRAM_SOLVE_SOLVER_PLAN_H

#include <gram/plan.h>

/* Rows of features that a fit on landmarks holds at a time. */
enum { GRAM_PLAN_CHUNK = 4096 };

#endif
