/**
 * Names for ids and tokens, which a server draws anew in every run: an operation is recorded in names, and can so be
 * run again, with others left out.
 */

export type Labels = {
  /** Null: it has no name. */
  labelOf(text: string): string | null;
  name(label: string, text: string): void;
  /** With names in place of everything that has one. */
  record<T>(value: T): T;
  /** With ids and tokens in place of names; what was never made has an id that nobody knows. */
  resolve<T>(value: T): T;
};

const MARK = '$';

export function createLabels(): Labels {
  const labels = new Map<string, string>();
  const texts = new Map<string, string>();
  const replace = (value: unknown, each: (text: string) => string): unknown => {
    if (typeof value === 'string') return each(value);
    if (Array.isArray(value)) return value.map((item) => replace(item, each));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replace(item, each)]));
  };
  const labelOf = (text: string) => labels.get(text) ?? null;
  return {
    labelOf,
    name(label, text) {
      labels.set(text, MARK + label);
      texts.set(MARK + label, text);
    },
    record: <T>(value: T) => replace(value, (text) => labelOf(text) ?? text) as T,
    resolve: <T>(value: T) =>
      replace(value, (text) => (text.startsWith(MARK) ? (texts.get(text) ?? `unmade-${text.slice(1)}`) : text)) as T,
  };
}
