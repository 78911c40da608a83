/** One monitor: switch, scores, settings and deletion. */

import { useQuery } from '@connectrpc/connect-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { AnalyticsInterval } from '../../../gen/spandrel/v1/analytics_pb.js';
import { EvaluationService } from '../../../gen/spandrel/v1/evaluations_pb.js';
import { type Monitor, MonitorService } from '../../../gen/spandrel/v1/monitors_pb.js';
import { Button, CopyButton } from '../design/button.tsx';
import { DeleteForGood } from '../design/confirm.tsx';
import { FailureNotice } from '../design/failure.tsx';
import { nameControls } from '../design/format.ts';
import { DetailPage } from '../design/frame.tsx';
import { Instant } from '../design/instant.tsx';
import page from '../design/page.module.css';
import { Back } from '../design/page.tsx';
import { Tabs } from '../design/tabs.tsx';
import { Scores } from '../evaluations/scores.tsx';
import { rangeInput } from '../overview/series.ts';
import { useChange } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { JsonView } from '../trace/json-view.tsx';
import { Section } from '../trace/section.tsx';
import { writeRange } from '../traces/range.ts';
import { useRangeQuery } from '../traces/range-query.ts';
import { toDraft, toMonitor } from './draft.ts';
import { MonitorForm } from './monitor-form.tsx';
import { StateBadge } from './monitor-table.tsx';

const route = getRouteApi('/$slug/monitors/$monitorId');
const FIELDS = ['name', 'evaluator_id', 'execution_mode', 'sample', 'preconditions', 'mappings_json'];

/** The target of a monitor's platformUrl. */
export default function MonitorPage() {
  const { slug, monitorId } = route.useParams();
  const { may } = useSession();
  const found = useQuery(MonitorService.method.getMonitor, { idOrSlug: monitorId });
  return (
    <DetailPage
      back={<Back to="/$slug/monitors" params={{ slug }} label="Monitors" />}
      found={found}
      item={found.data?.monitor}
      show={(monitor) => ({
        title: nameControls(monitor.name ?? monitor.slug),
        sub: (
          <>
            {nameControls(monitor.slug)} · changed <Instant at={monitor.updatedAt} /> ·{' '}
            <Link to="/$slug/evaluators/$evaluatorId" params={{ slug, evaluatorId: monitor.evaluatorId ?? '' }}>
              evaluator
            </Link>{' '}
            ·{' '}
            <Link to="/$slug/traces" params={{ slug }} search={{ q: `evaluator:${monitor.evaluatorId}` }}>
              evaluated traces
            </Link>
          </>
        ),
        actions: (
          <div className={page.row}>
            {may('analytics:view') ? <State monitor={monitor} /> : <StateBadge monitor={monitor} sum={undefined} />}
            <CopyButton text={monitor.id}>Copy id</CopyButton>
            {may('evaluations:manage') && <Switch monitor={monitor} />}
          </div>
        ),
        children: <Parts monitor={monitor} />,
      })}
    />
  );
}

const TABS = [
  ['scores', 'Scores'],
  ['settings', 'Settings'],
] as const;

function Parts({ monitor }: { readonly monitor: Monitor }) {
  const { slug } = route.useParams();
  const { tab, ...search } = route.useSearch();
  const { may } = useSession();
  const navigate = route.useNavigate();
  const tabs = may('analytics:view') ? TABS : TABS.slice(1);
  const [first] = tabs;
  const shown = tab ?? first?.[0] ?? 'settings';
  return (
    <>
      <Tabs
        label="Parts of the monitor"
        tabs={tabs}
        shown={shown}
        onShow={(name) => void navigate({ search: name === 'scores' ? {} : { tab: name } })}
      />
      {shown === 'scores' ? (
        <Scores
          slug={slug}
          input={{ monitorId: monitor.id }}
          evaluatorId={monitor.evaluatorId ?? ''}
          evaluatorType={monitor.checkType}
          search={search}
          onChange={(part) => void navigate({ search: (now) => ({ ...now, ...part }) as typeof now, replace: true })}
        />
      ) : (
        <Settings slug={slug} monitor={monitor} />
      )}
    </>
  );
}

function Settings({ slug, monitor }: { readonly slug: string; readonly monitor: Monitor }) {
  const { may } = useSession();
  const navigate = useNavigate();
  const { parametersJson = '{}' } = monitor;
  return (
    <>
      {may('evaluations:manage') && <Change key={monitor.id} monitor={monitor} />}
      {parametersJson !== '{}' && (
        <Section title="Settings that override the evaluator’s">
          <JsonView json={parametersJson} label="settings" />
        </Section>
      )}
      {may('evaluations:manage') && (
        <div>
          <DeleteForGood
            label="Delete the monitor"
            name={monitor.name ?? monitor.slug}
            method={MonitorService.method.deleteMonitor}
            input={{ idOrSlug: monitor.id }}
            onDone={() => navigate({ to: '/$slug/monitors', params: { slug } })}
          >
            Pending evaluations are dropped; its results are kept. This cannot be undone. To pause it, disable it
            instead.
          </DeleteForGood>
        </div>
      )}
    </>
  );
}

/** Its query is the one of the scores below. */
function State({ monitor }: { readonly monitor: Monitor }) {
  const { data, isPlaceholderData } = useRangeQuery({
    method: EvaluationService.method.queryEvaluationAnalytics,
    range: writeRange(route.useSearch()),
    input: { monitorId: monitor.id, interval: AnalyticsInterval.TOTAL },
    toRangeInput: rangeInput,
  });
  return <StateBadge monitor={monitor} sum={data?.answer.buckets[0]} isOld={isPlaceholderData} />;
}

function Switch({ monitor: { id, enabled } }: { readonly monitor: Monitor }) {
  const toggle = useChange(MonitorService.method.toggleMonitor);
  return (
    <>
      <Button small disabled={toggle.isPending} onClick={() => toggle.mutate({ idOrSlug: id, enabled: !enabled })}>
        {enabled ? 'Disable' : 'Enable'}
      </Button>
      {toggle.isError && <FailureNotice error={toggle.error} />}
    </>
  );
}

function Change({ monitor }: { readonly monitor: Monitor }) {
  const update = useChange(MonitorService.method.updateMonitor);
  return (
    <>
      <MonitorForm
        start={toDraft(monitor)}
        action="Save"
        call={update}
        onSubmit={(draft) =>
          update.mutate({ idOrSlug: monitor.id, monitor: toMonitor(draft), updateMask: { paths: FIELDS } })
        }
      />
      <p role="status">{update.isSuccess && 'Saved.'}</p>
    </>
  );
}
