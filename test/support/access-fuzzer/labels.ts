/**
 * Labels for ids and tokens, which differ in every run: a step recorded with labels can run again, also when other
 * steps are left out.
 */

export type Labels = {
  /** Null: no label. */
  labelOf(text: string): string | null;
  name(label: string, text: string): void;
  /** Replaces ids and tokens by their labels. */
  record<T>(value: T): T;
  /** Replaces labels by their texts; a label without a text becomes an unknown id. */
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
