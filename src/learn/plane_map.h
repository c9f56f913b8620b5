/* Maps of a plane from inside. */
#ifndef GRAM_LEARN_PLANE_MAP_H
#define GRAM_LEARN_PLANE_MAP_H

#include <gram/map.h>

/* Which of n points, rows ldx apart, is nearest to a place, by distances relative to the sides of the map's frame; of equal ones the first. */
int64_t gram_map_nearest(const gram_map *map, int64_t n, const double *x, int64_t ldx, const double place[2]);

#endif
