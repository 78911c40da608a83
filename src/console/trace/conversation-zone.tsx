/** What went into the chosen span and came out of it; of the whole trace when none is chosen. */

import type { Trace, TraceSpan, TypedValue } from '../../../gen/spandrel/v1/traces_pb.js';
import { Conversation } from './conversation.tsx';
import { JsonView } from './json-view.tsx';
import { LongText } from './long-text.tsx';
import { readMessages } from './messages.ts';
import { Section } from './section.tsx';

export type ZoneProps = {
  readonly trace: Trace;
  /** Those that are loaded; more may follow. */
  readonly spans: readonly TraceSpan[];
  readonly chosen: TraceSpan | null;
  readonly onChoose: (span: TraceSpan | null) => void;
};

const CONTEXTS_MAX = 100;

export function ConversationZone({ trace, chosen }: ZoneProps) {
  if (chosen) return <SpanConversation key={chosen.spanId} span={chosen} />;
  return (
    <>
      {trace.input?.value && (
        <Section title="Input">
          <LongText text={trace.input.value} />
        </Section>
      )}
      {trace.output?.value && (
        <Section title="Output">
          <LongText text={trace.output.value} />
        </Section>
      )}
    </>
  );
}

function SpanConversation({ span }: { readonly span: TraceSpan }) {
  return (
    <>
      {span.input && (
        <Section title="Input">
          <ValueView value={span.input} label="input" />
        </Section>
      )}
      {span.output && (
        <Section title="Output">
          <ValueView value={span.output} label="output" />
        </Section>
      )}
      {span.contexts.length > 0 && (
        <Section title={`Retrieved documents, ${span.contexts.length}`}>
          {span.contexts.slice(0, CONTEXTS_MAX).map((context, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a document may occur twice, and the order never changes.
            <LongText key={index} text={context.content} />
          ))}
        </Section>
      )}
    </>
  );
}

/** Shows a value as its type says: a conversation, text, or JSON. */
function ValueView({ value, label }: { readonly value: TypedValue; readonly label: string }) {
  if (value.type === 'chat_messages') {
    const messages = readMessages(value.valueJson);
    if (messages !== null) return <Conversation messages={messages} />;
  }
  if (value.valueJson.startsWith('"')) return <LongText text={String(JSON.parse(value.valueJson))} />;
  return <JsonView json={value.valueJson} label={label} />;
}
