/** The text format of Prometheus, version 0.0.4. */

export type Family = {
  readonly name: string;
  readonly help: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
};

export type Sample = {
  readonly suffix?: '_bucket' | '_sum' | '_count';
  readonly labels?: Readonly<Record<string, string>>;
  readonly value: number;
};

/** Leaves out samples that are not finite, and families without samples. */
export function textOf(families: readonly { readonly family: Family; readonly samples: readonly Sample[] }[]): string {
  let text = '';
  for (const { family, samples } of families) {
    const { name, help, kind } = family;
    const lines = samples.filter(({ value }) => Number.isFinite(value)).map((sample) => lineOf(name, sample));
    if (lines.length > 0) text += `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${kind}\n${lines.join('')}`;
  }
  return text;
}

function lineOf(name: string, { suffix, labels = {}, value }: Sample): string {
  const pairs = Object.entries(labels).map(([label, of]) => `${label}="${escapeValue(of)}"`);
  return `${name}${suffix ?? ''}${pairs.length > 0 ? `{${pairs.join(',')}}` : ''} ${value}\n`;
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapeValue(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}
