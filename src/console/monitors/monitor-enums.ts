import type { EvaluationAnalyticsBucket } from '../../../gen/spandrel/v1/evaluation_analytics_pb.js';
import { type Monitor, MonitorExecutionMode } from '../../../gen/spandrel/v1/monitors_pb.js';
import { nameControls } from '../design/format.ts';

export const MODES: readonly (readonly [mode: MonitorExecutionMode, label: string, hint: string])[] = [
  [MonitorExecutionMode.ON_MESSAGE, 'Automatically, on new traces', 'Shortly after the last span of a trace arrives.'],
  [
    MonitorExecutionMode.AS_GUARDRAIL,
    'As a guardrail, on request',
    'Runs when the application calls it by its slug and waits for the result.',
  ],
  [MonitorExecutionMode.MANUALLY, 'On request', 'Runs only when a request names its slug.'],
];

export function modeName(mode: MonitorExecutionMode): string {
  return MODES.find(([each]) => each === mode)?.[1] ?? 'unknown';
}

export function formatConditions({ preconditions }: Monitor): string {
  const words = preconditions.map(({ field = '', valueJson = '' }) => `${field} is ${valueJson}`);
  return nameControls(words.join(', '));
}

/** The state of a monitor, with its evaluations of a range; undefined where it has none or they are not known. */
export function monitorState(
  { enabled }: Monitor,
  sum: Pick<EvaluationAnalyticsBucket, 'evaluations' | 'errors' | 'skipped'> | undefined,
): { readonly text: string; readonly tone: 'good' | 'bad' | 'warn' | 'quiet' } {
  if (!enabled) return { text: 'off', tone: 'quiet' };
  const { evaluations = 0n, errors = 0n, skipped = 0n } = sum ?? {};
  if (evaluations > 0n && skipped === evaluations) return { text: 'all skipped', tone: 'warn' };
  if (errors === 0n) return { text: 'on', tone: 'good' };
  return errors === evaluations ? { text: 'failing', tone: 'bad' } : { text: 'some errors', tone: 'warn' };
}
