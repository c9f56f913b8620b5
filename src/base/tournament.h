/* A round-robin tournament: every team meets every other once, and in each round no team plays twice.
 *
 * This is how a symmetric product runs in parallel without per-thread sums: a game of teams a and b adds to the outputs
 * of both, no other game of the round touches them, and each output is summed in the fixed order of the rounds. */
#ifndef GRAM_BASE_TOURNAMENT_H
#define GRAM_BASE_TOURNAMENT_H

#include <stdint.h>

/* Rounds, the first of which lets each team play itself; games of a round (some of them may be no game). */
int64_t gram_tournament_rounds(int64_t teams);
int64_t gram_tournament_games(int64_t teams);

/* The teams of a game, *a >= *b; 0 if there is no such game. */
int gram_tournament_game(int64_t teams, int64_t round, int64_t game, int64_t *a, int64_t *b);

#endif
