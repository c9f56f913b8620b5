/* Kernels of strings, as inner products of counted features (Shawe-Taylor and Cristianini, "Kernel Methods for Pattern Analysis", 2004, chapter 11).
 *
 *   spectrum(k)      how often each k-mer, k symbols in a row, occurs (Leslie, Eskin and Noble 2002)
 *   blended(k)       the same for all lengths 1 .. k
 *   mismatch(k, m)   k-mers that differ from one of the text in at most m places (Leslie et al. 2004)
 *   gapped(l, k)     k symbols at given places of l in a row, for all binom(l, k) sets of places (Ghandi et al. 2014)
 *   subseq(k, decay) k symbols in order with anything between, decay to the power of the length that they span (Lodhi et al. 2002)
 *   hamming()        which symbol is at each place
 *   same()           the text itself: 1 if two are equal, else 0
 *
 * Symbols are letters (code points of UTF-8), bytes, words, bases of DNA, or bases where a k-mer and its reverse complement, what the other strand reads there, are one.
 * `scaled` divides by the length of the features, so that k(x, x) = 1. */
#include <math.h>
#include <string.h>

#include "kernel/family_facts.h"
#include "kernel/text/text_features.h"

static const char *const NO_YES[] = {"no", "yes", NULL};

enum { MOST_PLACES = 16, LONGEST = 64 };

#define COUNT_SPEC(letter, value, most)                                                                                \
    {                                                                                                                  \
        .name = letter, .role = GRAM_ROLE_STRUCTURE, .initial = value, .lower = 1, .upper = most, .whole = 1           \
    }
#define OVER_SPEC(usual)                                                                                               \
    {                                                                                                                  \
        .name = "over", .role = GRAM_ROLE_STRUCTURE, .initial = (usual), .lower = GRAM_OVER_LETTERS,                   \
        .upper = GRAM_OVER_STRANDS, .whole = 1, .words = gram_over_words                                               \
    }
#define SCALED_SPEC                                                                                                    \
    {                                                                                                                  \
        .name = "scaled", .role = GRAM_ROLE_STRUCTURE, .initial = 1, .lower = 0, .upper = 1, .whole = 1,               \
        .words = NO_YES                                                                                                \
    }

/* ---- what all have ---- */

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work)
{
    (void)shape, (void)work;
    v->affine(n, 1, 0, s, out);
}

/* Of what is no set of numbers most facts are not known. */
static void facts(const double *par, int64_t d, gram_properties *facts)
{
    (void)par, (void)d;
    facts->positive_definite = GRAM_YES;
    facts->stationary = GRAM_NO;
    facts->isotropic = GRAM_NO;
    facts->derivatives = 0;
    facts->sobolev_order = NAN;
}

/* Symbols from .. from + k - 1, or 0 if one of them is none. */
static int is_whole(const gram_symbols *text, int64_t from, int64_t k)
{
    for (int64_t i = from; i < from + k; i++)
        if (text->code[i] == GRAM_NO_SYMBOL) return 0;
    return 1;
}

static uint64_t key_of(uint64_t key, const uint64_t *code, int64_t k)
{
    for (int64_t i = 0; i < k; i++) key = gram_feature_mix(key, code[i] + 1);
    return key;
}

/* A k-mer, or the lesser of it and its reverse complement. */
static uint64_t strand_key(uint64_t key, const uint64_t *code, int64_t k, int over)
{
    uint64_t other[LONGEST];
    if (over != GRAM_OVER_STRANDS) return key_of(key, code, k);
    for (int64_t i = 0; i < k; i++) other[i] = 3 - code[k - 1 - i];
    const uint64_t one = key_of(key, code, k), two = key_of(key, other, k);
    return one < two ? one : two;
}

/* ---- spectrum and blended ---- */

enum { K, OVER, SCALED };

static void add_length(const double *par, const gram_symbols *text, int64_t k, gram_feature_sink *sink)
{
    for (int64_t i = 0; i + k <= text->count; i++)
        if (is_whole(text, i, k)) gram_feature_add(sink, strand_key((uint64_t)k, text->code + i, k, (int)par[OVER]), 1);
}

static void spectrum_features(const double *par, const gram_symbols *text, gram_feature_sink *sink)
{
    add_length(par, text, (int64_t)par[K], sink);
}

static void blended_features(const double *par, const gram_symbols *text, gram_feature_sink *sink)
{
    for (int64_t k = 1; k <= (int64_t)par[K]; k++) add_length(par, text, k, sink);
}

#define STRINGS .form = GRAM_FORM_DOT, .things = 1u << GRAM_OBJECT_TEXT, .facts = facts, .profile = profile

const gram_kernel_type gram_kernel_spectrum = {
    .name = "spectrum",
    .formula = "sum over k-mers of count(x) count(y), over |.| |.|",
    .spec_count = 3,
    .specs = {COUNT_SPEC("k", 3, LONGEST), OVER_SPEC(GRAM_OVER_LETTERS), SCALED_SPEC},
    .over = OVER,
    .scaled = SCALED,
    .features = spectrum_features,
    STRINGS,
};

const gram_kernel_type gram_kernel_blended = {
    .name = "blended",
    .formula = "sum over strings of 1 to k symbols of count(x) count(y), over |.| |.|",
    .spec_count = 3,
    .specs = {COUNT_SPEC("k", 3, LONGEST), OVER_SPEC(GRAM_OVER_LETTERS), SCALED_SPEC},
    .over = OVER,
    .scaled = SCALED,
    .features = blended_features,
    STRINGS,
};

/* ---- mismatch ---- */

enum { MISMATCH_K, MISMATCH_M, MISMATCH_OVER, MISMATCH_SCALED };

typedef struct neighbours {
    gram_feature_sink *sink;
    int64_t k;
    int over;
    uint64_t alphabet, code[LONGEST];
} neighbours;

/* All strings that differ from what is there in at most `left` of the places from `at` on. */
static void add_neighbours(neighbours *n, int64_t at, int64_t left)
{
    if (at == n->k || left == 0) {
        gram_feature_add(n->sink, strand_key((uint64_t)n->k, n->code, n->k, n->over), 1);
        return;
    }
    const uint64_t own = n->code[at];
    for (uint64_t symbol = 0; symbol < n->alphabet; symbol++) {
        n->code[at] = symbol;
        add_neighbours(n, at + 1, left - (symbol != own));
    }
    n->code[at] = own;
}

static void mismatch_features(const double *par, const gram_symbols *text, gram_feature_sink *sink)
{
    neighbours n = {.sink = sink, .k = (int64_t)par[MISMATCH_K], .over = (int)par[MISMATCH_OVER]};
    n.alphabet = n.over == GRAM_OVER_BYTES ? 256 : 4;
    for (int64_t i = 0; i + n.k <= text->count; i++) {
        if (!is_whole(text, i, n.k)) continue;
        memcpy(n.code, text->code + i, (size_t)n.k * sizeof *n.code);
        add_neighbours(&n, 0, (int64_t)par[MISMATCH_M]);
    }
}

static const char *mismatch_refuse(const double *par)
{
    if (par[MISMATCH_M] > par[MISMATCH_K]) return "m must be at most k";
    if (par[MISMATCH_OVER] != GRAM_OVER_BYTES && par[MISMATCH_OVER] != GRAM_OVER_DNA &&
        par[MISMATCH_OVER] != GRAM_OVER_STRANDS)
        return "it needs an alphabet: over=dna, strands or bytes";
    return NULL;
}

const gram_kernel_type gram_kernel_mismatch = {
    .name = "mismatch",
    .formula = "sum over k-mers of those of x and of y that differ from it in at most m places, over |.| |.|",
    .spec_count = 4,
    .specs = {COUNT_SPEC("k", 5, MOST_PLACES),
              {.name = "m", .role = GRAM_ROLE_STRUCTURE, .initial = 1, .lower = 0, .upper = 4, .whole = 1},
              OVER_SPEC(GRAM_OVER_DNA),
              SCALED_SPEC},
    .refuse = mismatch_refuse,
    .over = MISMATCH_OVER,
    .scaled = MISMATCH_SCALED,
    .features = mismatch_features,
    STRINGS,
};

/* ---- gapped ---- */

enum { GAPPED_L, GAPPED_K, GAPPED_OVER, GAPPED_SCALED };

static int bit_count(unsigned bits)
{
    int count = 0;
    for (; bits; bits &= bits - 1) count++;
    return count;
}

/* The places of `bits`, from the last one if they are read backwards. */
static void list_places(unsigned bits, int64_t l, int backwards, int64_t *place)
{
    int64_t count = 0;
    for (int64_t i = 0; i < l; i++) {
        const int64_t p = backwards ? l - 1 - i : i;
        if (bits >> p & 1) place[count++] = p;
    }
}

static unsigned mirrored(unsigned bits, int64_t l)
{
    unsigned other = 0;
    for (int64_t p = 0; p < l; p++) other |= (bits >> p & 1) << (l - 1 - p);
    return other;
}

/* How many symbols of an alphabet go into one word, which is then mixed at once. */
static int64_t symbols_of_word(int over)
{
    enum { LETTER_BITS = 21, BYTE_BITS = 8, BASE_BITS = 2, WORD_BITS = 64 };
    switch (over) {
    case GRAM_OVER_LETTERS: return WORD_BITS / LETTER_BITS;
    case GRAM_OVER_BYTES: return WORD_BITS / BYTE_BITS;
    case GRAM_OVER_WORDS: return 1;
    default: return WORD_BITS / BASE_BITS;
    }
}

/* The symbols at k places; with `flip`, those that the other strand has there. */
static uint64_t places_key(uint64_t key, const uint64_t *code, int64_t k, const int64_t *place, int64_t together,
                           int flip)
{
    const int64_t shift = 64 / together;
    for (int64_t p = 0; p < k;) {
        uint64_t word = 0;
        for (const int64_t end = p + together < k ? p + together : k; p < end; p++)
            word = (together > 1 ? word << shift : 0) | (flip ? 3 - code[place[p]] : code[place[p]]);
        key = gram_feature_mix(key, word);
    }
    return key;
}

/* The symbols at the places of `bits`, and the places. */
static void add_places(const gram_symbols *text, unsigned bits, int64_t l, int64_t k, int over, gram_feature_sink *sink)
{
    const int64_t together = symbols_of_word(over);
    const unsigned other = mirrored(bits, l);
    int64_t forwards[MOST_PLACES], backwards[MOST_PLACES];
    list_places(bits, l, 0, forwards);
    list_places(bits, l, 1, backwards);
    for (int64_t i = 0; i + l <= text->count; i++) {
        const uint64_t *code = text->code + i;
        int sound = 1;
        for (int64_t p = 0; p < k; p++) sound &= code[forwards[p]] != GRAM_NO_SYMBOL;
        if (!sound) continue;
        const uint64_t one = places_key(bits, code, k, forwards, together, 0);
        const uint64_t two = over == GRAM_OVER_STRANDS ? places_key(other, code, k, backwards, together, 1) : one;
        gram_feature_add(sink, two < one ? two : one, 1);
    }
}

/* Of bases, where k of them make few words: counted in the first-level cache, word by word. */
static void count_places(const gram_symbols *text, unsigned bits, int64_t l, int64_t k, double *count,
                         gram_feature_sink *sink)
{
    const int64_t words = INT64_C(1) << 2 * k;
    int64_t place[MOST_PLACES];
    list_places(bits, l, 0, place);
    memset(count, 0, (size_t)words * sizeof *count);
    for (int64_t i = 0; i + l <= text->count; i++) {
        uint64_t word = 0, sound = 1;
        for (int64_t p = 0; p < k; p++) {
            const uint64_t code = text->code[i + place[p]];
            sound &= code != GRAM_NO_SYMBOL;
            word = word << 2 | (code & 3);
        }
        count[word] += (double)sound;
    }
    for (int64_t word = 0; word < words; word++)
        if (count[word] > 0) gram_feature_put(sink, gram_feature_mix(bits, (uint64_t)word), count[word]);
}

static int64_t sets_of_places(int64_t l, int64_t k)
{
    int64_t count = 1;
    for (int64_t i = 0; i < k; i++) count = count * (l - i) / (i + 1);
    return count;
}

static void gapped_features(const double *par, const gram_symbols *text, gram_feature_sink *sink)
{
    enum { MOST_COUNTED = 5 };
    const int64_t l = (int64_t)par[GAPPED_L], k = (int64_t)par[GAPPED_K], starts = text->count - l + 1;
    if ((int)par[GAPPED_OVER] == GRAM_OVER_DNA && k <= MOST_COUNTED && starts > 0) {
        const int64_t words = INT64_C(1) << 2 * k;
        double *count = gram_feature_room(sink, words);
        if (!count || !gram_feature_expect(sink, sets_of_places(l, k) * (starts < words ? starts : words))) return;
        for (unsigned bits = 1; bits < 1u << l; bits++)
            if (bit_count(bits) == k) count_places(text, bits, l, k, count, sink);
        return;
    }
    for (unsigned bits = 1; bits < 1u << l; bits++)
        if (bit_count(bits) == k) add_places(text, bits, l, k, (int)par[GAPPED_OVER], sink);
}

static const char *gapped_refuse(const double *par)
{
    return par[GAPPED_K] > par[GAPPED_L] ? "k must be at most l" : NULL;
}

const gram_kernel_type gram_kernel_gapped = {
    .name = "gapped",
    .formula = "sum over k symbols at places of l in a row of count(x) count(y), over |.| |.|",
    .spec_count = 4,
    .specs = {COUNT_SPEC("l", 7, MOST_PLACES), COUNT_SPEC("k", 4, MOST_PLACES), OVER_SPEC(GRAM_OVER_LETTERS),
              SCALED_SPEC},
    .refuse = gapped_refuse,
    .over = GAPPED_OVER,
    .scaled = GAPPED_SCALED,
    .features = gapped_features,
    STRINGS,
};

/* ---- subsequences ---- */

enum { SUBSEQ_K, SUBSEQ_DECAY, SUBSEQ_OVER, SUBSEQ_SCALED };

/* Prefixes u of subsequences one after the other, each by what it is made of: weight[j] = sum over the ways to read u that end at place j of decay^span. */
typedef struct prefixes {
    const gram_symbols *text;
    gram_feature_sink *sink;
    double decay;
    int64_t k;
} prefixes;

enum { MOST_SUBSEQ = 8 };

/* Extends the prefix by each symbol that is left; a symbol is met first where it has not been seen from there on. */
static void extend(const prefixes *p, int64_t depth, uint64_t key, const double *weight, double *room)
{
    const int64_t n = p->text->count;
    double *next = room;
    for (int64_t first = 0; first < n; first++) {
        const uint64_t symbol = p->text->code[first];
        double before = 0, total = 0; /* sum over i < j of weight[i] decay^(j - i) */
        int seen = symbol == GRAM_NO_SYMBOL;
        for (int64_t j = 0; j < first && !seen; j++) seen = p->text->code[j] == symbol;
        if (seen) continue;
        for (int64_t j = 0; j < n; j++) {
            const double reached = depth == 0 ? p->decay : before;
            next[j] = p->text->code[j] == symbol ? reached : 0;
            total += next[j];
            before = (before + (weight ? weight[j] : 0)) * p->decay;
        }
        if (total == 0) continue;
        const uint64_t longer = gram_feature_mix(key, symbol + 1);
        if (depth + 1 == p->k)
            gram_feature_add(p->sink, longer, total);
        else
            extend(p, depth + 1, longer, next, room + n);
    }
}

static void subseq_features(const double *par, const gram_symbols *text, gram_feature_sink *sink)
{
    const prefixes p = {text, sink, par[SUBSEQ_DECAY], (int64_t)par[SUBSEQ_K]};
    double *room = gram_feature_room(sink, text->count * p.k);
    if (room) extend(&p, 0, (uint64_t)p.k, NULL, room);
}

const gram_kernel_type gram_kernel_subseq = {
    .name = "subseq",
    .formula = "sum over k symbols in order of decay^span(x) decay^span(y), over |.| |.|",
    .spec_count = 4,
    .specs = {COUNT_SPEC("k", 2, MOST_SUBSEQ),
              {.name = "decay", .role = GRAM_ROLE_STRUCTURE, .initial = 0.5, .lower = 0, .lower_open = 1, .upper = 1},
              OVER_SPEC(GRAM_OVER_LETTERS),
              SCALED_SPEC},
    .over = SUBSEQ_OVER,
    .scaled = SUBSEQ_SCALED,
    .features = subseq_features,
    STRINGS,
};

/* ---- hamming and same ---- */

enum { PLACE_OVER, PLACE_SCALED };

static void hamming_features(const double *par, const gram_symbols *text, gram_feature_sink *sink)
{
    (void)par;
    for (int64_t i = 0; i < text->count; i++)
        if (text->code[i] != GRAM_NO_SYMBOL)
            gram_feature_add(sink, gram_feature_mix((uint64_t)i + 1, text->code[i] + 1), 1);
}

const gram_kernel_type gram_kernel_hamming = {
    .name = "hamming",
    .formula = "places where x and y have the same symbol, over |.| |.|",
    .spec_count = 2,
    .specs = {OVER_SPEC(GRAM_OVER_LETTERS), SCALED_SPEC},
    .over = PLACE_OVER,
    .scaled = PLACE_SCALED,
    .features = hamming_features,
    STRINGS,
};

static void same_features(const double *par, const gram_symbols *text, gram_feature_sink *sink)
{
    (void)par;
    gram_feature_add(sink, key_of((uint64_t)text->count + 1, text->code, text->count), 1);
}

const gram_kernel_type gram_kernel_same = {
    .name = "same",
    .formula = "1 if x = y, else 0",
    .spec_count = 2,
    .specs = {OVER_SPEC(GRAM_OVER_BYTES), SCALED_SPEC},
    .over = PLACE_OVER,
    .scaled = PLACE_SCALED,
    .features = same_features,
    STRINGS,
};

/* ---- sets ---- */

static void overlap_features(const double *par, const gram_symbols *text, gram_feature_sink *sink)
{
    (void)par;
    for (int64_t i = 0; i < text->count; i++) {
        int seen = text->code[i] == GRAM_NO_SYMBOL;
        for (int64_t j = 0; j < i && !seen; j++) seen = text->code[j] == text->code[i];
        if (!seen) gram_feature_add(sink, gram_feature_mix(1, text->code[i] + 1), 1);
    }
}

const gram_kernel_type gram_kernel_overlap = {
    .name = "overlap",
    .formula = "size of the intersection of the sets of symbols, over sqrt(|x| |y|)",
    .spec_count = 2,
    .specs = {OVER_SPEC(GRAM_OVER_WORDS), SCALED_SPEC},
    .over = PLACE_OVER,
    .scaled = PLACE_SCALED,
    .features = overlap_features,
    STRINGS,
};
