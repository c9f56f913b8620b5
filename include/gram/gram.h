/* gram: kernel methods in C. One idea runs through all of it:
 *
 *     points  --  kernel  --  Gram operator  --  solver  --  function
 *
 * This header includes all the others; each can be included alone. */
#ifndef GRAM_GRAM_H
#define GRAM_GRAM_H

#include <gram/bayes.h>
#include <gram/cca.h>
#include <gram/cg.h>
#include <gram/checkpoint.h>
#include <gram/cholesky.h>
#include <gram/cluster.h>
#include <gram/collective.h>
#include <gram/compare.h>
#include <gram/conditional.h>
#include <gram/context.h>
#include <gram/couple.h>
#include <gram/cross_validation.h>
#include <gram/density.h>
#include <gram/describe.h>
#include <gram/draw_points.h>
#include <gram/eigen.h>
#include <gram/embedding.h>
#include <gram/explain.h>
#include <gram/features.h>
#include <gram/flow.h>
#include <gram/function.h>
#include <gram/functional.h>
#include <gram/gp.h>
#include <gram/gp_path.h>
#include <gram/gp_tune.h>
#include <gram/grid.h>
#include <gram/hsic.h>
#include <gram/kernel.h>
#include <gram/krr.h>
#include <gram/krr_tune.h>
#include <gram/landmarks.h>
#include <gram/laplace.h>
#include <gram/law.h>
#include <gram/learn.h>
#include <gram/libsvm.h>
#include <gram/logistic.h>
#include <gram/loss.h>
#include <gram/made_data.h>
#include <gram/map.h>
#include <gram/matrix.h>
#include <gram/mercer.h>
#include <gram/mmd.h>
#include <gram/model.h>
#include <gram/model_algebra.h>
#include <gram/network.h>
#include <gram/npy.h>
#include <gram/nystrom.h>
#include <gram/operator.h>
#include <gram/output.h>
#include <gram/page.h>
#include <gram/pca.h>
#include <gram/picture.h>
#include <gram/plan.h>
#include <gram/points.h>
#include <gram/preparation.h>
#include <gram/random.h>
#include <gram/sample_groups.h>
#include <gram/sampler.h>
#include <gram/score.h>
#include <gram/scored_points.h>
#include <gram/spectral_density.h>
#include <gram/spectrum.h>
#include <gram/spline.h>
#include <gram/status.h>
#include <gram/stein.h>
#include <gram/study.h>
#include <gram/study_run.h>
#include <gram/svm.h>
#include <gram/table.h>
#include <gram/text.h>
#include <gram/thin.h>
#include <gram/words.h>

#endif
