/** What was requested with a virtual key in a range: the sums, by model, and the newest traces. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { useMemo } from 'react';
import { SpendGrouping, SpendService } from '../../../gen/spandrel/v1/spend_pb.js';
import { type VirtualKey, VirtualKeyService } from '../../../gen/spandrel/v1/virtual_keys_pb.js';
import { Answer } from '../design/answer.tsx';
import { nameControls } from '../design/format.ts';
import { RecordList } from '../design/frame.tsx';
import page from '../design/page.module.css';
import { Pending } from '../design/page.tsx';
import type { ProjectRef } from '../session/account.ts';
import { ProjectScope, useSession } from '../session/session.tsx';
import { AMOUNT_COLUMNS, AmountCells, TotalCard } from '../spend/amounts.tsx';
import { NewestTraces } from '../traces/newest-traces.tsx';
import { writeQueryLine } from '../traces/query-line.ts';
import { type Bounds, type Range, type RangeSearch, readBounds } from '../traces/range.ts';
import { RangePicker } from '../traces/range-picker.tsx';
import { useRangePages, useRangeQuery } from '../traces/range-query.ts';

/** The metadata of traces that names the virtual key of their requests. */
const METADATA_KEY = 'virtual_key_id';
const MODELS_SHOWN = 100;

type KeyUseProps = {
  readonly virtualKey: VirtualKey;
  readonly search: RangeSearch;
  readonly onChange: (part: Range) => void;
};

export function KeyUse({ virtualKey, search, onChange }: KeyUseProps) {
  const { account, may } = useSession();
  const { id, traceProjectId } = virtualKey;
  const project = account.projects.find((each) => each.id === traceProjectId);
  const total = useRangeQuery({
    method: VirtualKeyService.method.getVirtualKeySpend,
    range: search,
    input: { id },
    toRangeInput: rangeOf,
  });
  const sums = total.data?.answer.total;
  return (
    <>
      <div className={page.row}>
        <RangePicker search={search} onChange={onChange} />
      </div>
      <Pending found={total} />
      {sums && (
        <Answer isOld={total.isPlaceholderData}>
          <TotalCard total={sums} />
        </Answer>
      )}
      {may('gatewaySpend:view') && <ByModel id={id} search={search} />}
      {project && may('traces:view') && (
        <ProjectScope project={project}>
          <Traces id={id} project={project} search={search} />
        </ProjectScope>
      )}
    </>
  );
}

function rangeOf({ fromMs, toMs }: Bounds) {
  return { occurredFrom: timestampFromMs(fromMs), occurredTo: timestampFromMs(toMs) };
}

type PartProps = { readonly id: string; readonly search: RangeSearch };

function ByModel({ id, search }: PartProps) {
  const found = useRangePages({
    method: SpendService.method.querySpend,
    range: search,
    input: { virtualKeyId: id, groupBy: SpendGrouping.MODEL, pageSize: MODELS_SHOWN },
    toRangeInput: rangeOf,
    nextPageToken: ({ nextPageToken }) => nextPageToken,
  });
  return (
    <RecordList
      name="Use by model"
      found={found}
      items={({ pages }) => pages.flatMap(({ answer }) => answer.data)}
      empty={{
        title: 'No request in this range',
        text: 'Requests count here once the gateway knows their outcome. “Connect” shows how an application sends the first one.',
      }}
      columns={['Model', ...AMOUNT_COLUMNS]}
      row={({ group, amounts }) => (
        <tr key={group ?? ''}>
          <td>{group === undefined ? <span className={page.soft}>none</span> : nameControls(group)}</td>
          {amounts && <AmountCells amounts={amounts} />}
        </tr>
      )}
    />
  );
}

function Traces({ id, project, search }: PartProps & { readonly project: ProjectRef }) {
  const bounds = useMemo(() => readBounds(search), [search]);
  const line = writeQueryLine({ text: '', filters: [{ name: `meta.${METADATA_KEY}`, value: id }] });
  return (
    <NewestTraces
      slug={project.slug}
      search={{ ...search, q: line }}
      input={{
        filters: [{ name: 'metadata.value', key: METADATA_KEY, values: [id] }],
        startDate: timestampFromMs(bounds.fromMs),
        endDate: timestampFromMs(bounds.toMs),
      }}
    />
  );
}
