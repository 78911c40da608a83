import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type Trigger, TriggerService } from '../../../gen/spandrel/v1/triggers_pb.js';
import { Badge, buttonClass } from '../design/button.tsx';
import { nameControls } from '../design/format.ts';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Page, Pending } from '../design/page.tsx';
import { Table } from '../design/table.tsx';
import { useSession } from '../session/session.tsx';
import { describeConditions, readConditions } from './conditions.ts';
import { ACTIONS, conditionOf, shownStatus, wordFor } from './trigger-enums.ts';

const route = getRouteApi('/$slug/triggers');

export default function TriggerListPage() {
  const { slug } = route.useParams();
  const { may } = useSession();
  const found = useQuery(TriggerService.method.listTriggers);
  const triggers = found.data?.triggers ?? [];
  return (
    <Page
      title="Triggers"
      sub="They tell somebody, or do something, when traces are not as they should be."
      actions={
        may('triggers:create') && (
          <Link to="/$slug/triggers/new" params={{ slug }} className={buttonClass('primary')}>
            New trigger
          </Link>
        )
      }
    >
      <Pending found={found} />
      {found.data && triggers.length === 0 && (
        <div className={`${page.card} ${page.empty}`}>
          <h2>No trigger yet</h2>
          <p>
            A trigger watches single traces that match a search, or a metric of all traces: the share of errors, cost,
            durations, scores. “Alert on this” in the list of traces and beside a chart begins one.
          </p>
        </div>
      )}
      {triggers.length > 0 && (
        <Table columns={['Name', 'State', 'Since', 'Watches', 'Then', 'Last told']}>
          {triggers.map((trigger) => (
            <Row key={trigger.id} slug={slug} trigger={trigger} />
          ))}
        </Table>
      )}
    </Page>
  );
}

function Row({ slug, trigger }: { readonly slug: string; readonly trigger: Trigger }) {
  return (
    <tr>
      <td>
        <Link to="/$slug/triggers/$triggerId" params={{ slug, triggerId: trigger.id }}>
          {nameControls(trigger.name ?? trigger.id)}
        </Link>
      </td>
      <td>
        <StatusBadge trigger={trigger} />
      </td>
      <td>
        <Instant at={trigger.state?.since} />
      </td>
      <td>
        {conditionOf(trigger) ?? (
          <code className={page.mono}>{nameControls(describeConditions(readConditions(trigger)))}</code>
        )}
      </td>
      <td>{wordFor(ACTIONS, trigger.action)}</td>
      <td>
        <Instant at={trigger.state?.notifiedAt} />
      </td>
    </tr>
  );
}

export function StatusBadge({ trigger: { state } }: { readonly trigger: Trigger }) {
  if (!state) return null;
  const { text, tone } = shownStatus(state.status);
  return <Badge tone={tone}>{text}</Badge>;
}
