/** One evaluator: its fields, runs on typed text and on stored traces, its scores and its settings. */

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import {
  type Evaluator,
  type EvaluatorField,
  EvaluatorService,
  EvaluatorType,
} from '../../../gen/spandrel/v1/evaluators_pb.js';
import { Badge, CopyButton } from '../design/button.tsx';
import { NONE, nameControls } from '../design/format.ts';
import { DetailPage } from '../design/frame.tsx';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Back } from '../design/page.tsx';
import { Tabs } from '../design/tabs.tsx';
import { Scores } from '../evaluations/scores.tsx';
import { useSession } from '../session/session.tsx';
import { Section } from '../trace/section.tsx';
import { EvaluatorSettings } from './evaluator-settings.tsx';
import { RunOnText } from './run-on-text.tsx';
import { RunOnTraces } from './run-on-traces.tsx';
import { readConfig } from './settings.ts';

const route = getRouteApi('/$slug/evaluators/$evaluatorId');

const TABS = [
  ['text', 'Try it'],
  ['traces', 'Run on traces'],
  ['scores', 'Scores'],
  ['settings', 'Settings'],
] as const;

/** The target of an evaluator's platformUrl. */
export default function EvaluatorPage() {
  const { slug, evaluatorId } = route.useParams();
  const { may } = useSession();
  const found = useQuery(EvaluatorService.method.getEvaluator, { idOrSlug: evaluatorId });
  return (
    <DetailPage
      back={<Back to="/$slug/evaluators" params={{ slug }} label="Evaluators" />}
      found={found}
      item={found.data?.evaluator}
      show={(evaluator) => ({
        title: nameControls(evaluator.name ?? evaluator.slug),
        sub: (
          <>
            {nameControls(evaluator.slug)} · changed <Instant at={evaluator.updatedAt} /> ·{' '}
            <Link to="/$slug/traces" params={{ slug }} search={{ q: `evaluator:${evaluator.id}` }}>
              evaluated traces
            </Link>
            {may('evaluations:manage') && evaluator.evaluatorType === EvaluatorType.EVALUATOR && (
              <>
                {' · '}
                <Link to="/$slug/monitors/new" params={{ slug }} search={{ evaluator: evaluator.id }}>
                  monitor new traces with it
                </Link>
              </>
            )}
          </>
        ),
        actions: (
          <div className={page.row}>
            <Badge tone="accent">{EvaluatorType[evaluator.evaluatorType]?.toLowerCase()}</Badge>
            <CopyButton text={evaluator.id}>Copy id</CopyButton>
          </div>
        ),
        children: <Parts evaluator={evaluator} />,
      })}
    />
  );
}

function Parts({ evaluator }: { readonly evaluator: Evaluator }) {
  const { may } = useSession();
  const { slug } = route.useParams();
  const { tab = 'text', ...search } = route.useSearch();
  const navigate = route.useNavigate();
  // Evaluators of other types can be read, but not run.
  if (evaluator.evaluatorType !== EvaluatorType.EVALUATOR)
    return (
      <>
        <Fields evaluator={evaluator} />
        <EvaluatorSettings slug={slug} evaluator={evaluator} />
      </>
    );
  const tabs = TABS.filter(
    ([name]) => (name !== 'text' || may('evaluations:manage')) && (name !== 'scores' || may('analytics:view')),
  );
  const shown = tab === 'text' ? (tabs[0]?.[0] ?? tab) : tab;
  return (
    <>
      <Tabs
        label="Parts of the evaluator"
        tabs={tabs}
        shown={shown}
        onShow={(name) => void navigate({ search: name === 'text' ? {} : { tab: name } })}
      />
      {shown === 'text' && <RunOnText slug={slug} evaluator={evaluator} />}
      {shown === 'traces' && <RunOnTraces evaluator={evaluator} />}
      {shown === 'scores' && (
        <Scores
          slug={slug}
          input={{ evaluatorId: evaluator.id }}
          evaluatorId={evaluator.id}
          evaluatorType={readConfig(evaluator.configJson).evaluatorType}
          search={search}
          onChange={(part) => void navigate({ search: (now) => ({ ...now, ...part }) as typeof now, replace: true })}
        />
      )}
      {shown === 'settings' && (
        <>
          <Fields evaluator={evaluator} />
          <EvaluatorSettings key={evaluator.id} slug={slug} evaluator={evaluator} />
        </>
      )}
    </>
  );
}

function Fields({ evaluator }: { readonly evaluator: Evaluator }) {
  return (
    <div>
      <Section title="Reads">{fieldsOf(evaluator.fields)}</Section>
      <Section title="Answers">{fieldsOf(evaluator.outputFields)}</Section>
    </div>
  );
}

function fieldsOf(fields: readonly EvaluatorField[]) {
  const written = fields.map(
    ({ identifier, valueType, isOptional }) => `${identifier}${isOptional ? '?' : ''}: ${valueType ?? 'any'}`,
  );
  return <p className={page.mono}>{nameControls(written.join(', ')) || NONE}</p>;
}
