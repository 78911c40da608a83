/** Parses the arguments of `spandrel reprice`. */

import { parseArgs } from 'node:util';
import type { RepricePosition } from '../domain/pricing/reprice.ts';

export type RepriceCommand = {
  readonly kind: 'reprice';
  readonly fromMs: number;
  readonly toMs: number;
  readonly projectId: string | null;
  readonly isDryRun: boolean;
  readonly emits: boolean;
  readonly after: RepricePosition | null;
};

export const REPRICE_HELP = [
  ['spandrel reprice --from WHEN --to WHEN', 'price the stored spans of traces that started within anew, by the price'],
  [
    '    [--project ID] [--dry-run] [--emit] [--after POSITION]',
    'list and the overrides of today; --dry-run only prints what would change, --emit corrects request events too',
  ],
] as const;

const OPTIONS = {
  from: { type: 'string' },
  to: { type: 'string' },
  project: { type: 'string' },
  after: { type: 'string' },
  'dry-run': { type: 'boolean' },
  emit: { type: 'boolean' },
} as const;

/** `args` after "reprice". Returns a problem as text. */
export function readRepriceCommand(args: readonly string[]): RepriceCommand | string {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS, strict: true });
    const { from, to, project = null, after } = values;
    if (from === undefined || to === undefined) return 'reprice takes --from <instant> and --to <instant>';
    const fromMs = readInstant(from, '--from');
    const toMs = readInstant(to, '--to');
    if (fromMs > toMs) return '--from must not be later than --to';
    const isDryRun = values['dry-run'] === true;
    const emits = values.emit === true;
    if (isDryRun && emits) return '--dry-run changes nothing, so that it takes no --emit';
    const position = after === undefined ? null : readPosition(after);
    return { kind: 'reprice', fromMs, toMs, projectId: project, isDryRun, emits, after: position };
  } catch (error) {
    return error instanceof Problem
      ? error.message
      : 'reprice takes --from, --to, --project, --after, --dry-run and --emit';
  }
}

class Problem extends Error {}

const INSTANT = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/;

/** A bare date is its first moment in UTC. */
function readInstant(text: string, option: string): number {
  const atMs = INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(atMs)) throw new Problem(`${option} takes a date such as 2026-01-31 or 2026-01-31T12:00:00Z`);
  return atMs;
}

/** Parses a position in the form of `formatPosition`. */
function readPosition(text: string): RepricePosition {
  const [, project = '', key = '', trace = ''] = /^(\d{1,10})(?:\.(\d{1,16})\.([0-9A-Za-z_-]+))?$/.exec(text) ?? [];
  if (project === '') throw new Problem('--after takes what a run that was stopped has printed');
  const traceId = Buffer.from(trace, 'base64url').toString();
  return { projectNumber: Number(project), trace: trace === '' ? null : { key: Number(key), traceId } };
}

export function formatPosition({ projectNumber, trace }: RepricePosition): string {
  if (trace === null) return String(projectNumber);
  return `${projectNumber}.${trace.key}.${Buffer.from(trace.traceId).toString('base64url')}`;
}
