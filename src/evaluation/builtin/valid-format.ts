/** Checks that the output has the format of the settings. */

import type { EvaluationOutcome, EvaluationRun } from '../../domain/evaluations/outcome.ts';
import { textOf } from './fields.ts';
import type { Evaluate } from './outcomes.ts';
import { failed } from './outcomes.ts';

type JudgeFormat = (output: string, run: EvaluationRun) => EvaluationOutcome;

/** Each parser is loaded only for its format: together they are a megabyte of code. */
const LOADERS: { readonly [format: string]: () => Promise<JudgeFormat> } = {
  json: async () => (await import('./json-format.ts')).judgeJson,
  markdown: async () => (await import('./markdown-format.ts')).judgeMarkdown,
  sql: async () => (await import('./sql-format.ts')).judgeSql,
  python: async () => () => failed('not_supported', 'Python validation is not supported by this server'),
};

export async function loadFormat({ settings }: EvaluationRun): Promise<Evaluate> {
  const format = String(settings.format);
  const load = Object.hasOwn(LOADERS, format) ? LOADERS[format] : undefined;
  if (load === undefined) throw new Error(`There is no format ${format}.`);
  const judge = await load();
  return (run) => {
    const output = textOf(run, 'output');
    return output.trim() === '' ? { status: 'skipped', details: 'Output is empty' } : judge(output, run);
  };
}
