-- Older processes must be stopped: they would take the number of a large text for the text.
create table "large_texts" ("number" integer not null primary key, "text" text not null);
create table "unused_texts" ("number" integer not null primary key);
CREATE TRIGGER spans_texts_replaced BEFORE UPDATE OF params, other_metrics, error, contexts, telemetry, input, output ON spans
WHEN EXISTS (SELECT 1 FROM spans WHERE rowid = old.rowid AND 'blob' IN (typeof(params), typeof(other_metrics), typeof(error), typeof(contexts), typeof(telemetry), typeof(input), typeof(output)))
BEGIN
  INSERT INTO unused_texts (number) SELECT cast(number AS integer) FROM (
    SELECT params AS number FROM spans WHERE rowid = old.rowid AND typeof(params) = 'blob' AND params IS NOT new.params
    UNION ALL SELECT other_metrics AS number FROM spans WHERE rowid = old.rowid AND typeof(other_metrics) = 'blob' AND other_metrics IS NOT new.other_metrics
    UNION ALL SELECT error AS number FROM spans WHERE rowid = old.rowid AND typeof(error) = 'blob' AND error IS NOT new.error
    UNION ALL SELECT contexts AS number FROM spans WHERE rowid = old.rowid AND typeof(contexts) = 'blob' AND contexts IS NOT new.contexts
    UNION ALL SELECT telemetry AS number FROM spans WHERE rowid = old.rowid AND typeof(telemetry) = 'blob' AND telemetry IS NOT new.telemetry
    UNION ALL SELECT input AS number FROM spans WHERE rowid = old.rowid AND typeof(input) = 'blob' AND input IS NOT new.input
    UNION ALL SELECT output AS number FROM spans WHERE rowid = old.rowid AND typeof(output) = 'blob' AND output IS NOT new.output
  );
END;
CREATE TRIGGER spans_texts_removed BEFORE DELETE ON spans
WHEN EXISTS (SELECT 1 FROM spans WHERE rowid = old.rowid AND 'blob' IN (typeof(params), typeof(other_metrics), typeof(error), typeof(contexts), typeof(telemetry), typeof(input), typeof(output)))
BEGIN
  INSERT INTO unused_texts (number) SELECT cast(number AS integer) FROM (
    SELECT params AS number FROM spans WHERE rowid = old.rowid AND typeof(params) = 'blob'
    UNION ALL SELECT other_metrics AS number FROM spans WHERE rowid = old.rowid AND typeof(other_metrics) = 'blob'
    UNION ALL SELECT error AS number FROM spans WHERE rowid = old.rowid AND typeof(error) = 'blob'
    UNION ALL SELECT contexts AS number FROM spans WHERE rowid = old.rowid AND typeof(contexts) = 'blob'
    UNION ALL SELECT telemetry AS number FROM spans WHERE rowid = old.rowid AND typeof(telemetry) = 'blob'
    UNION ALL SELECT input AS number FROM spans WHERE rowid = old.rowid AND typeof(input) = 'blob'
    UNION ALL SELECT output AS number FROM spans WHERE rowid = old.rowid AND typeof(output) = 'blob'
  );
END;
CREATE TRIGGER evaluations_texts_replaced BEFORE UPDATE OF label, details, error, inputs, cost ON evaluations
WHEN EXISTS (SELECT 1 FROM evaluations WHERE rowid = old.rowid AND 'blob' IN (typeof(label), typeof(details), typeof(error), typeof(inputs), typeof(cost)))
BEGIN
  INSERT INTO unused_texts (number) SELECT cast(number AS integer) FROM (
    SELECT label AS number FROM evaluations WHERE rowid = old.rowid AND typeof(label) = 'blob' AND label IS NOT new.label
    UNION ALL SELECT details AS number FROM evaluations WHERE rowid = old.rowid AND typeof(details) = 'blob' AND details IS NOT new.details
    UNION ALL SELECT error AS number FROM evaluations WHERE rowid = old.rowid AND typeof(error) = 'blob' AND error IS NOT new.error
    UNION ALL SELECT inputs AS number FROM evaluations WHERE rowid = old.rowid AND typeof(inputs) = 'blob' AND inputs IS NOT new.inputs
    UNION ALL SELECT cost AS number FROM evaluations WHERE rowid = old.rowid AND typeof(cost) = 'blob' AND cost IS NOT new.cost
  );
END;
CREATE TRIGGER evaluations_texts_removed BEFORE DELETE ON evaluations
WHEN EXISTS (SELECT 1 FROM evaluations WHERE rowid = old.rowid AND 'blob' IN (typeof(label), typeof(details), typeof(error), typeof(inputs), typeof(cost)))
BEGIN
  INSERT INTO unused_texts (number) SELECT cast(number AS integer) FROM (
    SELECT label AS number FROM evaluations WHERE rowid = old.rowid AND typeof(label) = 'blob'
    UNION ALL SELECT details AS number FROM evaluations WHERE rowid = old.rowid AND typeof(details) = 'blob'
    UNION ALL SELECT error AS number FROM evaluations WHERE rowid = old.rowid AND typeof(error) = 'blob'
    UNION ALL SELECT inputs AS number FROM evaluations WHERE rowid = old.rowid AND typeof(inputs) = 'blob'
    UNION ALL SELECT cost AS number FROM evaluations WHERE rowid = old.rowid AND typeof(cost) = 'blob'
  );
END;
