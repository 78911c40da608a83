/** Finds the known text closest to a misspelled one. */

/** A longer text is not a typing error and would cost too much time. */
const CHARACTERS_MAX = 128;

/**
 * The known text with the fewest edits from `text`; case is ignored, and the first of equals wins. An edit inserts,
 * deletes or replaces a letter or swaps two neighbours. Null when more than the share `changesMax` (0 to 1) of the text
 * would have to change.
 */
export function nearestMatch(text: string, known: readonly string[], changesMax = 1 / 2): string | null {
  if (text.length > CHARACTERS_MAX) return null;
  const typed = text.toLowerCase();
  let nearest: string | null = null;
  let fewest = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    const edits = countEdits(typed, candidate.toLowerCase());
    if (edits >= fewest || edits > Math.max(typed.length, candidate.length) * changesMax) continue;
    nearest = candidate;
    fewest = edits;
  }
  return nearest;
}

/** Strict, because known names share their first parts. */
const NAME_CHANGES_MAX = 1 / 5;

/** The end of a sentence about an unknown name. A known name without its first parts is near, too. */
export function suggestName(name: string, known: readonly string[]): string {
  const isTail = (each: string) => each.endsWith(`.${name}`) || each.endsWith(`/${name}`);
  const nearest = nearestMatch(name, known, NAME_CHANGES_MAX) ?? known.find(isTail);
  return spellNearest(nearest === undefined ? [] : [nearest]);
}

/** The same for names that were found already; empty where there is none. */
export function spellNearest(nearest: readonly string[]): string {
  if (nearest.length === 0) return '';
  return `, the nearest ${nearest.length === 1 ? 'is' : 'are'} ${nearest.join(', ')}`;
}

/** The Damerau-Levenshtein distance in which no part of a text changes twice. Keeps three rows of the table. */
function countEdits(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const wrong = from[row - 1] === to[column - 1] ? 0 : 1;
      const swaps = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + wrong,
        swaps ? at(beforeLast, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    beforeLast = last;
    last = current;
  }
  return at(last, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
