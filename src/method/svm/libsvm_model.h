/* What the reader and the writer of LIBSVM's model files share: its words. */
#ifndef GRAM_METHOD_SVM_LIBSVM_MODEL_H
#define GRAM_METHOD_SVM_LIBSVM_MODEL_H

#include <stdint.h>

/* One row for each machine. */
typedef struct gram_libsvm_machine {
    const char *name; /* LIBSVM's */
    const char *task; /* the model's */
    const char *svm;  /* its fact */
} gram_libsvm_machine;

enum { GRAM_LIBSVM_MACHINES = 5, GRAM_LIBSVM_MOST_CLASSES = 4096 };
extern const gram_libsvm_machine gram_libsvm_machines[GRAM_LIBSVM_MACHINES];

typedef enum gram_libsvm_form {
    GRAM_LIBSVM_LINEAR,
    GRAM_LIBSVM_POLYNOMIAL,
    GRAM_LIBSVM_RBF,
    GRAM_LIBSVM_SIGMOID,
    GRAM_LIBSVM_FORMS
} gram_libsvm_form;

extern const char *const gram_libsvm_forms[GRAM_LIBSVM_FORMS];

/* (gamma x.y + coef0)^degree, exp(-gamma |x - y|^2), tanh(gamma x.y + coef0) */
typedef struct gram_libsvm_kernel {
    gram_libsvm_form form;
    int degree;
    double gamma, coef0;
} gram_libsvm_kernel;

/* The place of the pair of classes a < b among (0,1), (0,2), ..., (1,2), ... */
static inline int64_t gram_libsvm_pair(int64_t classes, int64_t a, int64_t b)
{
    return a * classes - a * (a + 1) / 2 + (b - a - 1);
}

/* A support vector of class c has a coefficient for each other class, in their order. */
static inline int64_t gram_libsvm_other(int64_t c, int64_t column)
{
    return column < c ? column : column + 1;
}

#endif
