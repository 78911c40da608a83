import { useQuery } from '@connectrpc/connect-query';
import { Link } from '@tanstack/react-router';
import { MonitorService } from '../../../gen/spandrel/v1/monitors_pb.js';
import { EvaluationStatus, type TraceEvaluation } from '../../../gen/spandrel/v1/traces_pb.js';
import { Badge, type Tone } from '../design/button.tsx';
import { formatCount, formatScore, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { countedBy } from '../evaluations/counted.ts';
import { useLinkedProject, useMay } from '../session/session.tsx';
import styles from './detail.module.css';
import { JsonView } from './json-view.tsx';
import { ErrorView } from './section.tsx';
import { evaluationStatusName } from './trace-enums.ts';

const SHOWN_MAX = 200;

export function Evaluations({ evaluations }: { readonly evaluations: readonly TraceEvaluation[] }) {
  return (
    <>
      {evaluations.slice(0, SHOWN_MAX).map((each) => (
        <article key={each.evaluationId} className={styles.bubble}>
          <div className={page.row}>
            <h3>
              <SourceLink evaluation={each} />
            </h3>
            <Badge tone={toneOf(each)}>{outcomeOf(each)}</Badge>
            {each.score !== undefined && <span>{scoreOf(each.score, each.type)}</span>}
            {each.label !== undefined && <span>{nameControls(each.label)}</span>}
            {each.isGuardrail && <Badge>guardrail</Badge>}
          </div>
          {each.details !== undefined && <p className={page.prose}>{nameControls(each.details)}</p>}
          {each.error && <ErrorView error={each.error} />}
          {each.inputsJson !== undefined && (
            <details>
              <summary>Evaluator input</summary>
              <JsonView json={each.inputsJson} label="evaluator input" />
            </details>
          )}
        </article>
      ))}
      {evaluations.length > SHOWN_MAX && <p>{evaluations.length - SHOWN_MAX} more are not shown.</p>}
    </>
  );
}

/** Evaluators of applications have ids of other forms. */
const SAVED_EVALUATOR = /^evaluator_[0-9A-Za-z]{21}$/;

/** The monitor or the saved evaluator that made the evaluation, with a link to it. */
function SourceLink({ evaluation: { name, evaluatorId, monitorId } }: { readonly evaluation: TraceEvaluation }) {
  const project = useLinkedProject();
  const may = useMay();
  const text = nameControls(name);
  const isOfMonitor = monitorId !== undefined && may('evaluations:view');
  const { data } = useQuery(MonitorService.method.listMonitors, {}, { enabled: isOfMonitor });
  if (project === null || !may('evaluations:view')) return text;
  const { slug } = project;
  if (monitorId !== undefined) {
    const monitor = data?.monitors.find(({ id }) => id === monitorId);
    return (
      <>
        <Link to="/$slug/monitors/$monitorId" params={{ slug, monitorId }}>
          {nameControls(monitor?.name ?? monitor?.slug ?? name)}
        </Link>
        {monitor && `: ${text}`}
      </>
    );
  }
  if (!SAVED_EVALUATOR.test(evaluatorId)) return text;
  return (
    <Link to="/$slug/evaluators/$evaluatorId" params={{ slug, evaluatorId }}>
      {text}
    </Link>
  );
}

function scoreOf(score: number, type: string | undefined): string {
  const counted = countedBy(type);
  if (counted === null) return `Score ${formatScore(score)}`;
  return `${formatCount(score)} ${counted[score === 1 ? 0 : 1]}, less is better`;
}

type Outcome = Pick<TraceEvaluation, 'passed' | 'status'>;

export function outcomeOf({ passed, status }: Outcome): string {
  if (status !== EvaluationStatus.PROCESSED) return evaluationStatusName(status);
  if (passed === undefined) return 'processed';
  return passed ? 'passed' : 'failed';
}

export function toneOf({ passed, status }: Outcome): Tone {
  if (status === EvaluationStatus.ERROR || passed === false) return 'bad';
  return passed === true ? 'good' : 'quiet';
}
