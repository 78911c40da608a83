/** What was said in the chosen span; the whole run as one dialogue when none is chosen. */

import { useCallback, useMemo } from 'react';
import type { Trace, TraceSpan } from '../../../gen/spandrel/v1/traces_pb.js';
import page from '../design/page.module.css';
import { TurnList } from './conversation-list.tsx';
import { createRunReader, turnsOfSpan } from './conversation-run.ts';
import { useFailureFirst } from './failures.ts';

export type ZoneProps = {
  readonly trace: Trace;
  /** Those that are loaded; more may follow. */
  readonly spans: readonly TraceSpan[];
  readonly chosen: TraceSpan | null;
  readonly onChoose: (span: TraceSpan | null) => void;
};

export function ConversationZone(props: ZoneProps) {
  const { trace, chosen } = props;
  useFailureFirst(props);
  if (chosen) return <SpanConversation key={chosen.spanId} span={chosen} />;
  return <RunConversation key={trace.traceId} {...props} />;
}

function RunConversation({ trace, spans, onChoose }: ZoneProps) {
  const read = useMemo(() => createRunReader(), []);
  const turns = useMemo(() => read(trace, spans), [read, trace, spans]);
  const open = useCallback(
    (spanId: string) => onChoose(spans.find((span) => span.spanId === spanId) ?? null),
    [spans, onChoose],
  );
  if (turns.length === 0) return <p className={page.soft}>Nothing was said in this trace.</p>;
  return <TurnList turns={turns} title="Conversation" onOpen={open} />;
}

function SpanConversation({ span }: { readonly span: TraceSpan }) {
  const turns = useMemo(() => turnsOfSpan(span), [span]);
  if (turns.length === 0) return <p className={page.soft}>This span has no input and no output.</p>;
  return <TurnList turns={turns} title="Input and output" onOpen={null} />;
}
