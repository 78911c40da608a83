/** The cost of all requests of the organization, by what they have in common. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { getRouteApi, Link } from '@tanstack/react-router';
import { SpendGrouping, SpendService } from '../../../gen/spandrel/v1/spend_pb.js';
import { Answer } from '../design/answer.tsx';
import { Select } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { More, Page, Pending } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import type { ChangeOf } from '../layout/search.ts';
import { useVirtualKeys } from '../organization/scopes.ts';
import { useSession } from '../session/session.tsx';
import type { RangeSearch } from '../traces/range.ts';
import { RangePicker } from '../traces/range-picker.tsx';
import { useRangePages } from '../traces/range-query.ts';
import { AMOUNT_COLUMNS, AmountCells, TotalCard } from './amounts.tsx';
import type { SpendGroupName, SpendSearch } from './search.ts';

const route = getRouteApi('/-/spend');
const PAGE_SIZE = 100;

const GROUPINGS: Readonly<Record<SpendGroupName, readonly [grouping: SpendGrouping, label: string]>> = {
  project: [SpendGrouping.PROJECT, 'Project'],
  model: [SpendGrouping.MODEL, 'Model'],
  'virtual-key': [SpendGrouping.VIRTUAL_KEY, 'Virtual key'],
  principal: [SpendGrouping.PRINCIPAL, 'Member'],
  'end-user': [SpendGrouping.END_USER, 'User'],
  label: [SpendGrouping.LABEL, 'Label'],
  prompt: [SpendGrouping.PROMPT_ID, 'Prompt'],
  'prompt-version': [SpendGrouping.PROMPT_VERSION, 'Prompt version'],
};
const CHOICES = Object.entries(GROUPINGS).map(([name, [, text]]) => [name as SpendGroupName, text] as const);

export default function SpendPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { by = 'project', ...range } = search;
  const change = (part: ChangeOf<SpendSearch>) =>
    void navigate({ search: (now) => ({ ...now, ...part }) as SpendSearch, replace: true });
  return (
    <Page
      title="Spend"
      sub="The exact cost of all requests of the organization in the event log."
      actions={
        <div className={page.row}>
          <Select aria-label="Group by" value={by} options={CHOICES} onChange={(chosen) => change({ by: chosen })} />
          <RangePicker search={search} onChange={change} />
        </div>
      }
    >
      {/* No group stays under the heading of another grouping. */}
      <Sums key={by} by={by} range={range} />
    </Page>
  );
}

type SumsProps = { readonly by: SpendGroupName; readonly range: RangeSearch };

function Sums({ by, range }: SumsProps) {
  const [groupBy, label] = GROUPINGS[by];
  const found = useRangePages({
    method: SpendService.method.querySpend,
    range,
    input: { groupBy, pageSize: PAGE_SIZE },
    toRangeInput: ({ fromMs, toMs }) => ({ occurredFrom: timestampFromMs(fromMs), occurredTo: timestampFromMs(toMs) }),
    nextPageToken: ({ nextPageToken }) => nextPageToken,
  });
  const groups = found.data?.pages.flatMap(({ answer }) => answer.data) ?? [];
  const total = found.data?.pages[0]?.answer.total;
  return (
    <>
      <Pending found={found} />
      <Answer isOld={found.isPlaceholderData}>
        {total && <TotalCard total={total} />}
        {groups.length > 0 && (
          <Table name={`Spend by ${label.toLowerCase()}`} columns={[label, ...AMOUNT_COLUMNS]}>
            {groups.map(({ group, amounts }) => (
              <tr key={group ?? ''}>
                <td>
                  <Group by={by} group={group} />
                </td>
                {amounts && <AmountCells amounts={amounts} />}
              </tr>
            ))}
          </Table>
        )}
        <More found={found} />
      </Answer>
    </>
  );
}

function Group({ by, group }: { readonly by: SpendGroupName; readonly group: string | undefined }) {
  const { account } = useSession();
  const keys = useVirtualKeys(by === 'virtual-key');
  const key = by === 'virtual-key' ? keys.find(({ id }) => id === group) : undefined;
  if (key)
    return (
      <Link to="/-/virtual-keys/$keyId" params={{ keyId: key.id }}>
        {nameControls(key.name ?? key.id)}
      </Link>
    );
  if (group === undefined) return <span className={page.soft}>none</span>;
  const project = by === 'project' ? account.projects.find(({ id }) => id === group) : undefined;
  if (!project) return <bdi>{nameControls(group)}</bdi>;
  return (
    <Link to="/$slug/overview" params={{ slug: project.slug }}>
      {nameControls(project.name)}
    </Link>
  );
}
