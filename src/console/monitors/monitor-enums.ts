import { type Monitor, MonitorExecutionMode } from '../../../gen/spandrel/v1/monitors_pb.js';
import { nameControls } from '../design/format.ts';

export const MODES: readonly (readonly [mode: MonitorExecutionMode, label: string, hint: string])[] = [
  [MonitorExecutionMode.ON_MESSAGE, 'Automatically, on new traces', 'A moment after the last span of a trace came in.'],
  [
    MonitorExecutionMode.AS_GUARDRAIL,
    'As a guardrail, on request',
    'Runs only when the application requests it by the slug of the monitor and waits for the result.',
  ],
  [MonitorExecutionMode.MANUALLY, 'On request', 'Runs only when a request names the slug of the monitor.'],
];

export function modeName(mode: MonitorExecutionMode): string {
  return MODES.find(([each]) => each === mode)?.[1] ?? 'unknown';
}

export function formatConditions({ preconditions }: Monitor): string {
  const words = preconditions.map(({ field = '', valueJson = '' }) => `${field} is ${valueJson}`);
  return nameControls(words.join(', '));
}
