/* The circle method: one team stays in its seat, the others move on by one seat each round, and opposite seats play. An
 * odd number of teams gets a seat that stays empty. */
#include "base/tournament.h"

int64_t gram_tournament_rounds(int64_t teams)
{
    const int64_t seats = teams + teams % 2;
    return seats > 0 ? seats : 1;
}

int64_t gram_tournament_games(int64_t teams)
{
    return teams;
}

int gram_tournament_game(int64_t teams, int64_t round, int64_t game, int64_t *a, int64_t *b)
{
    if (round == 0) {
        *a = *b = game;
        return game < teams;
    }
    const int64_t seats = teams + teams % 2, moving = seats - 1;
    if (game >= seats / 2) return 0;
    const int64_t first = game == 0 ? moving : (round - 1 + game) % moving;
    const int64_t second = (round - 1 + moving - game) % moving;
    *a = first > second ? first : second;
    *b = first > second ? second : first;
    return *a < teams;
}
