import { EvaluationStatus, type TraceEvaluation } from '../../../gen/spandrel/v1/traces_pb.js';
import { Badge, type Tone } from '../design/button.tsx';
import { nameControls } from '../design/format.ts';
import styles from './detail.module.css';
import { ErrorView } from './section.tsx';
import { evaluationStatusName } from './trace-enums.ts';

const SHOWN_MAX = 200;

export function Evaluations({ evaluations }: { readonly evaluations: readonly TraceEvaluation[] }) {
  return (
    <>
      {evaluations.slice(0, SHOWN_MAX).map((each) => (
        <article key={each.evaluationId} className={styles.evaluation}>
          <div className={styles.line}>
            <h3>{nameControls(each.name)}</h3>
            <Badge tone={toneOf(each)}>{outcomeOf(each)}</Badge>
            {each.score !== undefined && <span>Score {each.score}</span>}
            {each.label !== undefined && <span>{nameControls(each.label)}</span>}
            {each.isGuardrail && <Badge>guardrail</Badge>}
          </div>
          {each.details !== undefined && <p className={styles.said}>{nameControls(each.details)}</p>}
          {each.error && <ErrorView error={each.error} />}
        </article>
      ))}
      {evaluations.length > SHOWN_MAX && <p>{evaluations.length - SHOWN_MAX} more are not shown.</p>}
    </>
  );
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
