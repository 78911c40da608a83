import { type Monitor, MonitorExecutionMode } from '../../../gen/spandrel/v1/monitors_pb.js';
import { nameControls } from '../design/format.ts';

export const MODES: readonly (readonly [mode: MonitorExecutionMode, label: string, hint: string])[] = [
  [MonitorExecutionMode.ON_MESSAGE, 'By itself, on new traces', 'A moment after the last span of a trace came in.'],
  [
    MonitorExecutionMode.AS_GUARDRAIL,
    'As a guardrail, when the application asks',
    'Nothing runs by itself: the application asks by the slug of the monitor before it goes on.',
  ],
  [MonitorExecutionMode.MANUALLY, 'When somebody asks', 'Nothing runs by itself: it is asked for by its slug.'],
];

export function modeName(mode: MonitorExecutionMode): string {
  return MODES.find(([each]) => each === mode)?.[1] ?? 'unknown';
}

export function formatConditions({ preconditions }: Monitor): string {
  const words = preconditions.map(({ field = '', valueJson = '' }) => `${field} is ${valueJson}`);
  return nameControls(words.join(', '));
}
