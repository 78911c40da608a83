/** The audit log: changes and refused requests. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ActorKind, type AuditEntry, AuditLogService, AuditOutcome } from '../../../gen/spandrel/v1/organization_pb.js';
import { Answer, currentData } from '../design/answer.tsx';
import { Badge, Button } from '../design/button.tsx';
import { Chip, Chips } from '../design/chip.tsx';
import { formatCount, nameControls } from '../design/format.ts';
import page from '../design/page.module.css';
import { More, Page, Pending } from '../design/page.tsx';
import { InstantCell, Table } from '../design/table.tsx';
import type { ChangeOf } from '../layout/search.ts';
import { RangePicker } from '../traces/range-picker.tsx';
import { useRangePages } from '../traces/range-query.ts';
import type { FilterName } from './audit-log-search.ts';
import { useKeyName, useMemberName } from './scopes.ts';

const route = getRouteApi('/-/audit-log');
const PAGE_SIZE = 100;

const FILTERS: readonly (readonly [name: FilterName, label: string])[] = [
  ['action', 'Action'],
  ['outcome', 'Outcome'],
  ['target', 'Target'],
  ['user', 'Member'],
  ['key', 'Key'],
];

export default function AuditLogPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (part: ChangeOf<typeof search>) =>
    void navigate({ search: (now) => ({ ...now, ...part }) as typeof now, replace: true });
  const { range, from, to, action, outcome, target, user, key } = search;
  const found = useRangePages({
    method: AuditLogService.method.listAuditLog,
    range: { range, from, to },
    input: {
      ...(action && { action }),
      ...(outcome && { outcome }),
      ...(target && { targetId: target }),
      ...(user && { actorUserId: user }),
      ...(key && { actorKeyId: key }),
      pageSize: PAGE_SIZE,
    },
    toRangeInput: ({ fromMs, toMs }) => ({ createdFrom: timestampFromMs(fromMs), createdTo: timestampFromMs(toMs) }),
    nextPageToken: ({ nextPageToken }) => nextPageToken,
  });
  const entries = found.data?.pages.flatMap(({ answer }) => answer.data) ?? [];
  const [memberName, keyName] = [useMemberName(), useKeyName()];
  const shownAs = (name: FilterName, value: string) =>
    name === 'user' ? memberName(value) : name === 'key' ? keyName(value) : value;
  const filters = FILTERS.flatMap(([name, label]) => {
    const value = search[name];
    return value === undefined ? [] : [{ name, label, value }];
  });
  return (
    <Page
      title="Audit log"
      sub="Who changed what, newest first."
      actions={
        <div className={page.row}>
          {outcome === undefined && (
            <Button small onClick={() => change({ outcome: 'refused' })}>
              Refused only
            </Button>
          )}
          <RangePicker search={search} onChange={change} />
        </div>
      }
    >
      {filters.length > 0 && (
        <Chips>
          {filters.map(({ name, label, value }) => (
            <Chip key={name} name={label} value={shownAs(name, value)} onRemove={() => change({ [name]: undefined })} />
          ))}
        </Chips>
      )}
      <Pending found={found} />
      <Answer isOld={found.isPlaceholderData}>
        {currentData(found) && entries.length === 0 && <p className={page.sub}>No entry matches.</p>}
        {entries.length > 0 && (
          <Table columns={['When', 'Action', 'Outcome', 'Target', 'By', 'More']}>
            {entries.map((entry) => (
              <Row key={entry.id} entry={entry} shownAs={shownAs} />
            ))}
          </Table>
        )}
        <More found={found} />
      </Answer>
    </Page>
  );
}

type RowProps = { readonly entry: AuditEntry; readonly shownAs: (name: FilterName, value: string) => string };

function Row({ entry, shownAs }: RowProps) {
  const { actorUserId: user, actorKeyId: key, targetId: target } = entry;
  return (
    <tr>
      <InstantCell at={entry.createdAt} as="short" />
      <td>
        <Narrow name="action" value={entry.action} />
      </td>
      <td>
        <Badge tone={entry.outcome === AuditOutcome.SUCCESS ? 'quiet' : 'bad'}>{entry.code ?? 'done'}</Badge>
      </td>
      <td className={`${page.mono} ${page.cut}`}>{target !== undefined && <Narrow name="target" value={target} />}</td>
      <td className={page.cut}>
        {user !== undefined && <Narrow name="user" value={user} label={shownAs('user', user)} />}
        {user === undefined && key !== undefined && <Narrow name="key" value={key} label={shownAs('key', key)} />}
        {user === undefined && key === undefined && ActorKind[entry.actorKind]?.toLowerCase()}
      </td>
      <td>
        <details>
          <summary>Details</summary>
          <div className={page.mono}>
            {moreOf(entry).map(([label, value]) => (
              <div key={label}>
                {label}: {value}
              </div>
            ))}
          </div>
        </details>
      </td>
    </tr>
  );
}

/** Finds the entries with the same value. */
function Narrow({
  name,
  value,
  label,
}: {
  readonly name: FilterName;
  readonly value: string;
  readonly label?: string;
}) {
  const text = nameControls(value);
  return (
    <Link to="/-/audit-log" search={(now) => ({ ...now, [name]: value })} title={text}>
      {label ?? text}
    </Link>
  );
}

function moreOf(entry: AuditEntry): readonly (readonly [label: string, value: React.ReactNode])[] {
  const { actorUserId: user, actorKeyId: key } = entry;
  const texts = [
    ['changed', entry.fields.join(', ')],
    ['from', entry.ip],
    ['client', entry.userAgent],
    ['request', entry.requestId],
    ['trace', entry.traceId],
    ['within a minute', entry.count > 1 ? `${formatCount(entry.count)} times` : ''],
  ] as const;
  return [
    ...(user !== undefined && key !== undefined ? [['key', <Narrow key="key" name="key" value={key} />] as const] : []),
    ...texts.flatMap(([label, value]) => (value ? [[label, nameControls(value)] as const] : [])),
    ['status', String(entry.status)],
  ];
}
