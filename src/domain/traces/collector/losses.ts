/** Tells the operator what was sent and not stored: senders often do not look at their answers. */

/** The fields that can be left out of a span, which bounds the labels of the metric. */
export const DROPPED_FIELDS = [
  'name',
  'parent_id',
  'vendor',
  'model',
  'input',
  'output',
  'params',
  'metrics',
  'metrics.prompt_tokens',
  'metrics.completion_tokens',
  'metrics.reasoning_tokens',
  'metrics.cache_read_input_tokens',
  'metrics.cache_creation_input_tokens',
  'metrics.cost',
  'metrics.tokens_estimated',
  'metrics.cached_tokens_in_prompt',
  'error',
  'contexts',
  'timestamps',
  'timestamps.first_token_at',
  'rates',
  'metadata',
  'other',
] as const;
export type DroppedField = (typeof DROPPED_FIELDS)[number];

export type LossMeter = {
  readonly fieldsDropped: (field: DroppedField, by: number) => void;
  readonly spansRefused: (by: number) => void;
};

export type Losses = {
  /** Notes what one request lost. `dropped` are the paths of fields. */
  note(lost: Lost): void;
};

type Lost = {
  readonly projectId: string;
  readonly nowMs: number;
  readonly refusedSpans: number;
  readonly dropped: readonly string[];
};

type Deps = {
  readonly meter: LossMeter;
  readonly log: { warn(fields: object, message: string): void };
};

const LOGGED_EVERY_MS = 60_000;
/** More projects than this are forgotten, so that they may be logged more often. */
const PROJECTS_MAX = 10_000;

/** What a project lost since its last line in the log. */
type Unlogged = { readonly loggedAtMs: number; spansRefused: number; readonly fields: Map<DroppedField, number> };

/** Counts each loss, and logs those of a project at most once a minute. */
export function createLosses({ meter, log }: Deps): Losses {
  const projects = new Map<string, Unlogged>();

  function unloggedOf(projectId: string): Unlogged {
    const cached = projects.get(projectId);
    if (cached !== undefined) return cached;
    if (projects.size >= PROJECTS_MAX) projects.clear();
    const unlogged = { loggedAtMs: Number.NEGATIVE_INFINITY, spansRefused: 0, fields: new Map() };
    projects.set(projectId, unlogged);
    return unlogged;
  }

  return {
    note({ projectId, nowMs, refusedSpans, dropped }) {
      if (refusedSpans === 0 && dropped.length === 0) return;
      const unlogged = unloggedOf(projectId);
      unlogged.spansRefused += refusedSpans;
      if (refusedSpans > 0) meter.spansRefused(refusedSpans);
      for (const path of dropped) {
        const field = fieldOf(path);
        meter.fieldsDropped(field, 1);
        unlogged.fields.set(field, (unlogged.fields.get(field) ?? 0) + 1);
      }
      if (nowMs < unlogged.loggedAtMs + LOGGED_EVERY_MS) return;
      const { spansRefused, fields } = unlogged;
      log.warn(
        { projectId, spansRefused, fieldsDropped: Object.fromEntries(fields) },
        'spans or fields of spans were not stored; the answers to their senders say why',
      );
      projects.set(projectId, { loggedAtMs: nowMs, spansRefused: 0, fields: new Map() });
    },
  };
}

const FIELDS: ReadonlySet<string> = new Set(DROPPED_FIELDS);

/** The field of a path: "error" for "error.stacktrace", "contexts" for "contexts[0].content". */
function fieldOf(path: string): DroppedField {
  for (let part = path; part !== ''; ) {
    if (isField(part)) return part;
    part = part.slice(0, Math.max(0, part.lastIndexOf('.'), part.lastIndexOf('[')));
  }
  return path.startsWith('outputs') ? 'output' : 'other';
}

function isField(part: string): part is DroppedField {
  return FIELDS.has(part);
}
