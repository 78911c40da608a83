/** Statements of the move of texts to ClickHouse; see text-mover.ts. */

import { MOVED_MIN_BYTES, referenceTo } from '../../rows/moved-text.ts';

/** The columns that move, by the names that ClickHouse has for them. */
export const COLUMNS = ['input', 'output', 'contexts'] as const;
export type Column = (typeof COLUMNS)[number];

export type Phase = 'copied' | 'moved';
/** Where the walk over the traces of a project is. */
export type Position = { readonly atMs: number; readonly id: string };
/** `endMs` and `endId`: the last one that may be walked to. */
export type Project = Position & { readonly projectNumber: number; readonly endMs: number; readonly endId: string };
export type Trace = Position & { readonly sequence: number; readonly spanCount: number };
export type SpanKey = { readonly sequence: number; readonly spanId: string };
export type SizedSpan = SpanKey & { readonly bytes: number };
/** A span, with its long texts or their hashes. */
export type SpanRow = SpanKey & Readonly<Record<Column, string | null>>;
export type Removed = {
  readonly id: number;
  readonly place: string | null;
  readonly projectNumber: number | null;
  readonly sequence: number | null;
};

export const TRACES_AT_ONCE = 1_000;
export const REMOVED_AT_ONCE = 5_000;
export const MOVER_LOCK = 0x5350_4d56;
/** The migration with the tables of the move. Processes before it would take references for texts. */
export const SCHEMA_NUMBER = 35;

/** Waits for the lock of the mover, which ends with the connection. */
export const HOLD_LOCK = `SELECT pg_advisory_lock(${MOVER_LOCK})`;
export const CLOCK = 'SELECT clock_ms() AS "nowMs"';

const FIRST_MS = Number.MIN_SAFE_INTEGER;

/** The random name of this database, and how often it told ClickHouse what may go (entities/search.ts). */
export type Owner = { readonly owner: string; readonly step: number };
export const FIND_OWNER = 'SELECT owner, step FROM text_owner';
export const STORE_OWNER = 'INSERT INTO text_owner (owner, step) VALUES ($1, 0)';
export const COUNT_STEP = 'UPDATE text_owner SET step = step + 1';
/** Before a move begins anew: ClickHouse has nothing of this database. */
export const FORGET_COPIES = 'DELETE FROM text_moves; DELETE FROM removed_texts';
export const FORGET_OWNER = 'DELETE FROM text_owner';
export const IS_ANY_MOVED = `SELECT FROM text_moves WHERE moved_to > ${FIRST_MS} LIMIT 1`;
/** No process of a build before the schema of the move connects from then on. */
export const REFUSE_OLDER = `UPDATE schema_versions SET serves_from = ${SCHEMA_NUMBER}
  WHERE number = (SELECT max(number) FROM schema_versions) AND serves_from < ${SCHEMA_NUMBER}`;

/** Behind every id. */
const LAST_ID = '~';
/** What was never copied is not moved either. */
const ENDS: Readonly<Record<Phase, readonly [atMs: string, id: string]>> = {
  copied: ['$1::bigint', `'${LAST_ID}'`],
  moved: ['copied_to', 'copied_id'],
};

const PROJECTS = `project AS (
      SELECT min(project_number) AS number FROM traces WHERE project_number > 0
      UNION ALL SELECT (SELECT min(project_number) FROM traces WHERE project_number > project.number) FROM project
      WHERE project.number IS NOT NULL)`;

/** $1: the latest change. The projects with traces behind their position, and these positions. */
export function listProjects(phase: Phase): string {
  const [atMs, id] = [`coalesce(${phase}_to, ${FIRST_MS})`, `coalesce(${phase}_id, '')`];
  const [endMs, endId] = ENDS[phase];
  return `WITH RECURSIVE ${PROJECTS}
    SELECT project.number AS "projectNumber", ${atMs} AS "atMs", ${id} AS id, ${endMs} AS "endMs", ${endId} AS "endId"
    FROM project LEFT JOIN text_moves ON text_moves.project_number = project.number
      CROSS JOIN LATERAL (SELECT FROM traces WHERE traces.project_number = project.number AND updated_at >= ${atMs}
        AND updated_at <= $1 AND updated_at IS NOT NULL AND (traces.updated_at, traces.trace_id) > (${atMs}, ${id})
        AND (traces.updated_at, traces.trace_id) <= (${endMs}, ${endId})
        ORDER BY updated_at LIMIT 1) AS next
    WHERE project.number IS NOT NULL`;
}

/** $1: how long after its last change a trace is copied. For how long the one that waits longest for it has been due. */
export const READ_LATE = `WITH RECURSIVE ${PROJECTS}
  SELECT greatest(0, clock_ms() - $1::bigint - min(next.updated_at))::double precision AS "lateMs"
  FROM project LEFT JOIN text_moves ON text_moves.project_number = project.number
    CROSS JOIN LATERAL (SELECT updated_at FROM traces WHERE traces.project_number = project.number
      AND updated_at >= coalesce(copied_to, ${FIRST_MS}) AND updated_at IS NOT NULL
      AND (traces.updated_at, traces.trace_id) > (coalesce(copied_to, ${FIRST_MS}), coalesce(copied_id, ''))
      ORDER BY updated_at LIMIT 1) AS next
  WHERE project.number IS NOT NULL`;

/** $1: the project; $2, $3: its position; $4: the latest change; $5, $6: its end. In the order of the walk. */
export const LIST_TRACES = `SELECT sequence, updated_at AS "atMs", trace_id AS id, span_count AS "spanCount"
  FROM traces WHERE project_number = $1 AND updated_at >= $2 AND updated_at <= least($4::bigint, $5::bigint) AND updated_at IS NOT NULL
    AND (updated_at, trace_id) > ($2, $3) AND (updated_at, trace_id) <= ($5, $6)
  ORDER BY updated_at, trace_id LIMIT ${TRACES_AT_ONCE}`;

/** $1: the project. Before anything of it is copied, so that its removed traces are noted. */
export const BEGIN_PROJECT = `INSERT INTO text_moves (project_number, copied_to, copied_id, moved_to, moved_id)
  VALUES ($1, ${FIRST_MS}, '', ${FIRST_MS}, '') ON CONFLICT DO NOTHING`;
/** $1: the project; $2, $3: the position. */
export function advance(phase: Phase): string {
  return `UPDATE text_moves SET ${phase}_to = $2, ${phase}_id = $3 WHERE project_number = $1`;
}

/** No reference is so long. */
const isLong = (column: Column, minBytes = '$3') =>
  `octet_length(${column}) >= ${minBytes} AND (octet_length(${column}) >= ${MOVED_MIN_BYTES} OR moved_place(${column}) IS NULL)`;
const longBytes = (column: Column) => `CASE WHEN ${isLong(column)} THEN octet_length(${column}) ELSE 0 END`;

/** $1: the project; $2: sequences of traces; $3: the bytes of a long text. The spans with long texts, and the bytes of these. */
export const LIST_SPANS = `SELECT trace_sequence AS sequence, span_id AS "spanId", ${COLUMNS.map(longBytes).join(' + ')} AS bytes
  FROM spans WHERE project_number = $1 AND trace_sequence = ANY ($2) AND (${COLUMNS.map((column) => isLong(column)).join(' OR ')})
  ORDER BY trace_sequence, span_id`;

/** With the project in each row: given once, the planner would read all of its spans while it has no statistics. */
const PROJECT_OF_EACH = 'array_fill($1::integer, ARRAY[cardinality($2::bigint[])])';
const SPANS =
  'spans.project_number = given.project_number AND spans.trace_sequence = given.sequence AND spans.span_id = given.span_id';

const ofSpans = (of: (column: Column) => string) =>
  `SELECT trace_sequence AS sequence, spans.span_id AS "spanId",
    ${COLUMNS.map((column) => `CASE WHEN ${isLong(column, '$4')} THEN ${of(column)} END AS ${column}`).join(', ')}
  FROM unnest(${PROJECT_OF_EACH}, $2::bigint[], $3::text[]) AS given (project_number, sequence, span_id) JOIN spans ON ${SPANS}`;
/** $1: the project; $2, $3: sequences and ids of spans; $4: the bytes of a long text. The long texts. */
export const READ_TEXTS = ofSpans((column) => column);
/** The same; the hashes that ClickHouse makes of copies (clickhouse/texts.ts). */
export const READ_DIGESTS = ofSpans((column) => `encode(sha256(convert_to(${column}, 'UTF8')), 'hex')`);

/** Appends wait for these locks, so nothing here may take long. */
export const BEGIN = `BEGIN; SET LOCAL statement_timeout = '3s'`;
/** $1: the project; $2: sequences. Who changes a trace locks it first. */
export const LOCK_TRACES = `SELECT sequence, updated_at AS "atMs" FROM traces
  WHERE project_number + 0 = $1 AND sequence = ANY ($2) ORDER BY sequence FOR UPDATE SKIP LOCKED`;
/** $1: the project. In the transaction that sets its first reference, so that no process takes it for one without. */
export const NOTE_MOVED = `UPDATE text_moves SET moved_to = greatest(moved_to, ${FIRST_MS} + 1) WHERE project_number = $1`;
/** $1: places. Those that ClickHouse is still to be told of. */
export const LIST_LEAVING = 'SELECT place FROM removed_texts WHERE place = ANY ($1)';

const newText = (column: Column) =>
  `CASE WHEN given.${column} IS NULL THEN spans.${column} ELSE ${referenceTo(`given.${column}`, `spans.${column}`)} END`;
/** $1: the project; $2, $3: sequences and ids of spans; then the places of copies that replace texts, null: the text stays. */
export const SET_REFERENCES = `UPDATE spans SET ${COLUMNS.map((column) => `${column} = ${newText(column)}`).join(', ')}
  FROM unnest(${PROJECT_OF_EACH}, $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[])
    AS given (project_number, sequence, span_id, ${COLUMNS.join(', ')})
  WHERE ${SPANS} AND coalesce(${COLUMNS.map((column) => `given.${column}`).join(', ')}) IS NOT NULL`;

export const LIST_REMOVED = `SELECT id, place, project_number AS "projectNumber", trace_sequence AS sequence FROM removed_texts
  ORDER BY id LIMIT ${REMOVED_AT_ONCE}`;
export const DELETE_REMOVED = 'DELETE FROM removed_texts WHERE id = ANY ($1)';

/** The columns that have references, and the bytes of their texts. */
export type References = SizedSpan & Readonly<Record<Column, string | null>> & { readonly projectNumber: number };

const RETURNED_AT_ONCE = 1_000;
const isReference = (column: Column) => `moved_place(${column}) IS NOT NULL`;
const referenceIn = (column: Column) => `CASE WHEN ${isReference(column)} THEN ${column} END`;
const movedBytes = (column: Column) =>
  `CASE WHEN ${isReference(column)} THEN substring(${column} FROM 2 FOR position(' ' IN ${column}) - 2)::bigint ELSE 0 END`;

/** The planner would sort all references that are left, for each page. */
export const BY_KEY = 'SET enable_sort = off; SET enable_bitmapscan = off; SET enable_seqscan = off';
/** $1, $2, $3: the project, sequence and id of the last span. */
export const LIST_REFERENCES = `SELECT project_number AS "projectNumber", trace_sequence AS sequence, span_id AS "spanId",
    ${COLUMNS.map((column) => `${referenceIn(column)} AS ${column}`).join(', ')}, ${COLUMNS.map(movedBytes).join(' + ')} AS bytes
  FROM spans WHERE (project_number, trace_sequence, span_id) > ($1::integer, $2::bigint, $3::text)
    AND (${COLUMNS.map(isReference).join(' OR ')})
  ORDER BY project_number, trace_sequence, span_id LIMIT ${RETURNED_AT_ONCE}`;

/** $1: sequences. Appends lock traces before their spans. */
export const LOCK_ALL = 'SELECT FROM traces WHERE sequence = ANY ($1) ORDER BY project_number, sequence FOR UPDATE';

/** $1, $2, $3: the projects, sequences and ids of spans; then of each column the references, and what replaces them. */
export const SET_RETURNED = `UPDATE spans SET ${COLUMNS.map(
  (column) =>
    `${column} = CASE WHEN spans.${column} = given.${column}_reference THEN given.${column} ELSE spans.${column} END`,
).join(', ')}
  FROM unnest($1::integer[], $2::bigint[], $3::text[], ${COLUMNS.map((_, index) => `$${4 + 2 * index}::text[], $${5 + 2 * index}::text[]`).join(', ')})
    AS given (project_number, sequence, span_id, ${COLUMNS.map((column) => `${column}_reference, ${column}`).join(', ')})
  WHERE ${SPANS}`;
