/* What the files of the method share. */
#ifndef GRAM_METHOD_NET_NET_H
#define GRAM_METHOD_NET_NET_H

#include <gram/network.h>

#include "method/method.h"

enum { NET_LAYERS = 64 };

typedef struct net_settings {
    int64_t width, depth;
    const char *widths;         /* a list instead of the width, NULL: not given */
    int64_t layers[NET_LAYERS]; /* the units of each, in the end */
    gram_chosen act;
    double sw, sb, output_scale;
    int mean_field, centred;
    int64_t steps, batch, members;
    double rate, momentum;
} net_settings;

/* What is looked at along training, at up to NET_SEEN steps. */
enum { NET_SEEN = 64 };
typedef struct net_curves {
    int64_t count;
    double step[NET_SEEN], loss[NET_SEEN], ntk_loss[NET_SEEN], drift[NET_SEEN], change[NET_SEEN];
} net_curves;

typedef struct net_state {
    int64_t outputs;
    gram_network_loss loss;
    double *y;                 /* n x outputs: standardised targets, or 1 for the class and 0 for others */
    double *mean, *deviation;  /* of the targets */
    gram_network_options made; /* of all networks */
    int64_t widths[NET_LAYERS];
    gram_network **networks;
    gram_network *linear; /* the first one, with its tangent kernel frozen */
    double rate;
    net_curves curves;
    double each, whole; /* how far weights of the first moved */
    gram_function *limit;
    int64_t limit_rows;
    double *grid; /* NET_GRID x NET_GRID_COLUMNS, NULL: there is no one feature to draw over */
} net_state;

/* Functions of one feature, for pictures, in the units of the data: x; the mean of the networks and their deviation; what the tangent
 * kernel of the first predicts for it; the mean and the deviation of networks of infinite width. */
enum { NET_GRID = 161, NET_GRID_COLUMNS = 6 };

/* Trains all networks, and the first beside its linearised self. */
gram_status gram_net_train(gram_learning *learning);

/* Are functions drawn? Then state->grid gets its first four columns, standardised (net_train.c). */
int gram_net_has_grid(const gram_learning *learning);
gram_status gram_net_fill_grid(gram_learning *learning);

/* What networks of infinite width are at the end: the mean of the ensemble as a function of the kernel ntk (net_limit.c). Sets
 * learning->kernel. */
gram_status gram_net_find_limit(gram_learning *learning);

#endif
