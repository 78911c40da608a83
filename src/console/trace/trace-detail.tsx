import type { Trace, TraceSpan } from '../../../gen/spandrel/v1/traces_pb.js';
import { Button } from '../design/button.tsx';
import { nameControls } from '../design/format.ts';
import { Evaluations } from './evaluations.tsx';
import { JsonView } from './json-view.tsx';
import { LongText } from './long-text.tsx';
import { ErrorView, Section } from './section.tsx';

type TraceDetailProps = {
  readonly trace: Trace;
  readonly spans: readonly TraceSpan[];
  readonly onChoose: (span: TraceSpan) => void;
};

/** The details of the trace as a whole, without its input and output. */
export function TraceDetail({ trace, spans, onChoose }: TraceDetailProps) {
  // The error of a trace is that of one of its spans.
  const failed = trace.error && spans.find(({ error }) => error?.message === trace.error?.message);
  return (
    <>
      {trace.error && (
        <ErrorView error={trace.error}>
          {failed && (
            <Button small onClick={() => onChoose(failed)}>
              In {nameControls(failed.name)}
            </Button>
          )}
        </ErrorView>
      )}
      {trace.expectedOutput !== undefined && (
        <Section title="Expected output">
          <LongText text={trace.expectedOutput} />
        </Section>
      )}
      {trace.evaluations.length > 0 && (
        <Section title="Evaluations">
          <Evaluations evaluations={trace.evaluations} />
        </Section>
      )}
      <Section title="Metadata">
        <JsonView json={trace.metadataJson || '{}'} label="metadata" />
      </Section>
    </>
  );
}
