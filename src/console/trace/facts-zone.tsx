/** What is known of the chosen span, or of the whole trace when none is chosen. */

import type { ZoneProps } from './conversation-zone.tsx';
import { SpanDetail } from './span-detail.tsx';
import { TraceDetail } from './trace-detail.tsx';

export function FactsZone({ trace, spans, chosen, onChoose }: ZoneProps) {
  if (chosen) return <SpanDetail key={chosen.spanId} span={chosen} evaluations={trace.evaluations} />;
  return <TraceDetail trace={trace} spans={spans} onChoose={onChoose} />;
}
