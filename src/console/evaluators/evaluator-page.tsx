import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type EvaluatorField, EvaluatorService, EvaluatorType } from '../../../gen/spandrel/v1/evaluators_pb.js';
import { Badge, CopyButton, Loading } from '../design/button.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { NONE, nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { JsonView } from '../trace/json-view.tsx';
import { Section } from '../trace/section.tsx';

const route = getRouteApi('/$slug/evaluators/$evaluatorId');

/** Where the platformUrl of an evaluator leads. */
export function EvaluatorPage() {
  const { slug, evaluatorId } = route.useParams();
  const found = useQuery(EvaluatorService.method.getEvaluator, { idOrSlug: evaluatorId });
  const evaluator = found.data?.evaluator;
  return (
    <div className={page.page}>
      <Link to="/$slug/evaluators" params={{ slug }} className={page.soft}>
        ‹ Evaluators
      </Link>
      {found.isPending && <Loading />}
      {found.isError && <FailureNotice error={found.error} retry={found.refetch} />}
      {evaluator && (
        <>
          <div className={page.head}>
            <h1>{nameControls(evaluator.name ?? evaluator.slug)}</h1>
            <div className={page.actions}>
              <Badge tone="accent">{EvaluatorType[evaluator.evaluatorType]?.toLowerCase()}</Badge>
              <CopyButton text={evaluator.id}>Copy id</CopyButton>
            </div>
          </div>
          <p className={page.sub}>
            {nameControls(evaluator.slug)} · changed <Instant at={evaluator.updatedAt} /> ·{' '}
            <Link to="/$slug/traces" params={{ slug }} search={{ q: `evaluator:${evaluator.id}` }}>
              traces that it judged
            </Link>
          </p>
          <Section title="Reads">{fieldsOf(evaluator.fields)}</Section>
          <Section title="Answers">{fieldsOf(evaluator.outputFields)}</Section>
          <Section title="Configuration">
            <JsonView json={evaluator.configJson ?? '{}'} label="configuration" />
          </Section>
        </>
      )}
    </div>
  );
}

function fieldsOf(fields: readonly EvaluatorField[]) {
  const written = fields.map(
    ({ identifier, valueType, isOptional }) => `${identifier}${isOptional ? '?' : ''}: ${valueType ?? 'any'}`,
  );
  return <p className={page.mono}>{nameControls(written.join(', ')) || NONE}</p>;
}
