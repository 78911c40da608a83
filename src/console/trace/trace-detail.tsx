import type { Trace } from '../../../gen/spandrel/v1/traces_pb.js';
import { Evaluations } from './evaluations.tsx';
import { JsonView } from './json-view.tsx';
import { LongText } from './long-text.tsx';
import { ErrorView, Section } from './section.tsx';

/** The details of the trace as a whole. */
export function TraceDetail({ trace }: { readonly trace: Trace }) {
  return (
    <>
      {trace.error && <ErrorView error={trace.error} />}
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
