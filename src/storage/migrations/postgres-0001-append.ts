/**
 * The first schema on PostgreSQL: what an append does, in the database itself. Appends hand over whole rows as arrays of
 * these types; a column more is a new type beside the old one, because processes of two versions may share the database
 * while it is upgraded.
 */

export const APPEND = [
  'CREATE SEQUENCE trace_numbers INCREMENT BY 1000',
  `CREATE TYPE trace_row AS (
    project_number integer, trace_id text COLLATE "C", sequence bigint, inserted_at bigint, updated_at bigint,
    span_count integer, started_at bigint, duration_ms bigint, first_token_ms bigint, prompt_tokens bigint,
    completion_tokens bigint, reasoning_tokens bigint, cache_read_input_tokens bigint,
    cache_creation_input_tokens bigint, total_cost_nano_usd bigint, unpriced_spans integer, tokens_estimated boolean,
    has_error boolean, metadata text, expected_output text
  )`,
  `CREATE TYPE span_row AS (
    project_number integer, trace_sequence bigint, span_id text COLLATE "C", parent_id text COLLATE "C", type integer,
    started_at bigint, duration_ms bigint, first_token_ms bigint, prompt_tokens bigint, completion_tokens bigint,
    reasoning_tokens bigint, cache_read_input_tokens bigint, cache_creation_input_tokens bigint, cost_nano_usd bigint,
    cost_source text, tokens_estimated boolean, cached_tokens_in_prompt boolean, emitted_request_id text, name text,
    vendor text, model text, params text, other_metrics text, error text, contexts text, input text, output text
  )`,
  `CREATE TYPE evaluation_row AS (
    project_number integer, trace_sequence bigint, evaluation_id text COLLATE "C", inserted_at bigint,
    evaluator_id text, name text, type text, span_id text, thread_id text, is_guardrail boolean, status text,
    passed boolean, score double precision, label text, monitor_id text, started_at bigint, finished_at bigint,
    details text, error text, inputs text, cost text
  )`,
  `CREATE TYPE request_row AS (
    organization_number integer, request_key text COLLATE "C", kept_at bigint, project_number integer,
    gateway_request_id text COLLATE "C", state integer, completed_by integer, received_at bigint, completed_at bigint,
    settled_at bigint, correction_at bigint, nano_usd bigint
  )`,
  'CREATE TYPE event_row AS (organization_number integer, place integer, id text, type integer, envelope text)',
  'CREATE TYPE head_row AS (organization_number integer, events integer, known_key_index integer, last_key_index integer)',
  'CREATE TYPE log_end AS (organization_number integer, seq bigint, created_at bigint, created text)',
  `CREATE FUNCTION clock_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
    'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint'`,
  // One call is one transaction. Rows are handed over in the order of their keys and the tables are always taken in
  // this order, so that two appends wait for each other but never both at once. What is said to be new and is there
  // already raises unique_violation, and nothing is stored. 0 as the instant of an event means this very moment.
  // Aggregates and earlier corrections are set after it, in the same transaction.
  `CREATE FUNCTION append_batch(
    new_traces trace_row[], changed_traces trace_row[], new_spans span_row[], changed_spans span_row[],
    stored_evaluations evaluation_row[], new_requests request_row[], changed_requests request_row[],
    new_events event_row[], heads head_row[], erased_traces trace_row[] DEFAULT '{}'
  ) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    head head_row;
    log_ends log_end[] := '{}';
    log_end log_end;
    -- Requests must outlive their events, which get their time here: a process whose clock is behind decides nothing.
    now_ms bigint := clock_ms();
  BEGIN
    IF cardinality(erased_traces) > 0 THEN
      DELETE FROM evaluations USING unnest(erased_traces) AS erased
      WHERE evaluations.project_number = erased.project_number AND evaluations.trace_sequence = erased.sequence;
      DELETE FROM spans USING unnest(erased_traces) AS erased
      WHERE spans.project_number = erased.project_number AND spans.trace_sequence = erased.sequence;
      DELETE FROM traces USING unnest(erased_traces) AS erased
      WHERE traces.project_number = erased.project_number AND traces.trace_id = erased.trace_id;
    END IF;
    IF cardinality(new_traces) > 0 THEN
      INSERT INTO traces SELECT * FROM unnest(new_traces);
    END IF;
    IF cardinality(changed_traces) > 0 THEN
      UPDATE traces SET
        updated_at = changed.updated_at, span_count = changed.span_count, started_at = changed.started_at,
        duration_ms = changed.duration_ms, first_token_ms = changed.first_token_ms,
        prompt_tokens = changed.prompt_tokens, completion_tokens = changed.completion_tokens,
        reasoning_tokens = changed.reasoning_tokens, cache_read_input_tokens = changed.cache_read_input_tokens,
        cache_creation_input_tokens = changed.cache_creation_input_tokens,
        total_cost_nano_usd = changed.total_cost_nano_usd, unpriced_spans = changed.unpriced_spans,
        tokens_estimated = changed.tokens_estimated, has_error = changed.has_error,
        metadata = changed.metadata, aggregates = NULL, expected_output = changed.expected_output
      FROM unnest(changed_traces) AS changed
      WHERE traces.project_number = changed.project_number AND traces.trace_id = changed.trace_id;
    END IF;
    IF cardinality(changed_spans) > 0 THEN
      DELETE FROM spans USING unnest(changed_spans) AS changed
      WHERE spans.project_number = changed.project_number AND spans.trace_sequence = changed.trace_sequence
        AND spans.span_id = changed.span_id;
      INSERT INTO spans SELECT * FROM unnest(changed_spans);
    END IF;
    IF cardinality(new_spans) > 0 THEN
      INSERT INTO spans SELECT * FROM unnest(new_spans);
    END IF;
    IF cardinality(stored_evaluations) > 0 THEN
      INSERT INTO evaluations SELECT * FROM unnest(stored_evaluations)
      ON CONFLICT (project_number, trace_sequence, evaluation_id) DO UPDATE SET
        evaluator_id = excluded.evaluator_id, name = excluded.name, type = excluded.type,
        span_id = excluded.span_id, thread_id = excluded.thread_id, is_guardrail = excluded.is_guardrail,
        status = excluded.status, passed = excluded.passed, score = excluded.score, label = excluded.label,
        monitor_id = excluded.monitor_id, started_at = excluded.started_at, finished_at = excluded.finished_at,
        details = excluded.details, error = excluded.error, inputs = excluded.inputs, cost = excluded.cost;
    END IF;
    IF cardinality(new_requests) > 0 THEN
      INSERT INTO request_keys SELECT organization_number, request_key, greatest(kept_at, now_ms)
      FROM unnest(new_requests);
    END IF;
    IF cardinality(changed_requests) > 0 THEN
      DELETE FROM requests USING unnest(changed_requests) AS changed JOIN request_keys AS known
        ON known.organization_number = changed.organization_number AND known.request_key = changed.request_key
      WHERE requests.organization_number = known.organization_number
        AND requests.kept_at = known.kept_at AND requests.request_key = known.request_key;
      UPDATE request_keys SET kept_at = greatest(changed.kept_at, now_ms)
      FROM unnest(changed_requests) AS changed
      WHERE request_keys.organization_number = changed.organization_number
        AND request_keys.request_key = changed.request_key;
    END IF;
    FOREACH head IN ARRAY heads LOOP
      INSERT INTO log_heads AS stored (organization_number, seq, created_at, last_key_index)
      VALUES (head.organization_number, head.events, clock_ms(), head.last_key_index)
      ON CONFLICT (organization_number) DO UPDATE SET
        seq = stored.seq + excluded.seq,
        created_at = greatest(stored.created_at, clock_ms()),
        last_key_index = excluded.last_key_index
      WHERE stored.last_key_index <= head.known_key_index
      RETURNING organization_number, seq - head.events, created_at,
        to_char(to_timestamp(created_at / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
      INTO log_end;
      IF NOT FOUND THEN
        RAISE serialization_failure USING MESSAGE = 'another process keeps requests under further keys';
      END IF;
      log_ends := log_ends || log_end;
    END LOOP;
    INSERT INTO requests (organization_number, kept_at, request_key, project_number, gateway_request_id,
      state, completed_by, received_at, completed_at, settled_at, correction_at, nano_usd)
    SELECT given.organization_number, greatest(kept_at, now_ms), request_key, project_number, gateway_request_id,
      state, completed_by, received_at, CASE completed_at WHEN 0 THEN log_tail.created_at ELSE completed_at END,
      CASE settled_at WHEN 0 THEN log_tail.created_at ELSE settled_at END,
      CASE correction_at WHEN 0 THEN log_tail.created_at ELSE correction_at END, nano_usd
    FROM unnest(new_requests || changed_requests) AS given
    JOIN unnest(log_ends) AS log_tail ON log_tail.organization_number = given.organization_number;
    INSERT INTO events
    SELECT given.organization_number, log_tail.created_at, given.id, given.type, log_tail.seq + given.place,
      replace(given.envelope, E'\\x01', log_tail.created)
    FROM unnest(new_events) AS given
    JOIN unnest(log_ends) AS log_tail ON log_tail.organization_number = given.organization_number;
  END $$`,
  'CREATE TYPE admission_row AS (organization_number integer, request_key text, admission text)',
  // events_after is how many further events of the organization come in the same batch.
  'CREATE TYPE governance_row AS (organization_number integer, id text, events_after integer)',
  // The appends of traces do without it. What follows the batch is done while its heads are held, so an id that another
  // process is about to store is waited for there, and raises unique_violation here.
  `CREATE FUNCTION append_reports(
    new_traces trace_row[], changed_traces trace_row[], new_spans span_row[], changed_spans span_row[],
    stored_evaluations evaluation_row[], new_requests request_row[], changed_requests request_row[],
    new_events event_row[], heads head_row[], erased_traces trace_row[],
    admissions admission_row[], governance governance_row[]
  ) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM append_batch(new_traces, changed_traces, new_spans, changed_spans, stored_evaluations, new_requests,
      changed_requests, new_events, heads, erased_traces);
    UPDATE requests SET admission = given.admission
    FROM unnest(admissions) AS given JOIN request_keys AS known
      ON known.organization_number = given.organization_number AND known.request_key = given.request_key
    WHERE requests.organization_number = known.organization_number
      AND requests.kept_at = known.kept_at AND requests.request_key = known.request_key;
    INSERT INTO governance_events (organization_number, id, created_at, seq)
    SELECT given.organization_number, given.id, log_heads.created_at, log_heads.seq - given.events_after
    FROM unnest(governance) AS given JOIN log_heads ON log_heads.organization_number = given.organization_number;
  END $$`,
  // Two statements, because what was locked only after a wait must be read as it is by then.
  `CREATE FUNCTION lock_requests(organization_numbers integer[], keys text[]) RETURNS SETOF requests LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM FROM unnest(organization_numbers, keys) AS wanted (organization_number, request_key)
    JOIN request_keys AS known USING (organization_number, request_key)
    ORDER BY known.organization_number, known.request_key FOR UPDATE OF known;
    RETURN QUERY SELECT requests.*
    FROM unnest(organization_numbers, keys) AS wanted (organization_number, request_key)
    JOIN request_keys AS known USING (organization_number, request_key)
    JOIN requests ON requests.organization_number = known.organization_number
      AND requests.kept_at = known.kept_at AND requests.request_key = known.request_key;
  END $$`,
];
