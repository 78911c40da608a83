import { getRouteApi } from '@tanstack/react-router';
import { TriggerService } from '../../../gen/spandrel/v1/triggers_pb.js';
import { Back, Page } from '../design/page.tsx';
import { useChange } from '../session/refresh.ts';
import { emptyDraft, toTrigger } from './draft.ts';
import { TriggerForm } from './trigger-form.tsx';

const route = getRouteApi('/$slug/triggers/new');

/** Links to it bring along a search, or the metric of a chart. */
export default function NewTriggerPage() {
  const { slug } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const create = useChange(TriggerService.method.createTrigger, ({ trigger }) =>
    navigate({ to: '/$slug/triggers/$triggerId', params: { slug, triggerId: trigger?.id ?? '' } }),
  );
  return (
    <Page
      back={<Back to="/$slug/triggers" params={{ slug }} label="Triggers" />}
      title="New trigger"
      sub="It sees traces that arrive after it was created."
    >
      <TriggerForm
        start={emptyDraft(search)}
        isNew
        action="Create the trigger"
        call={create}
        onSubmit={(draft) => create.mutate({ ...toTrigger(draft), kind: draft.kind })}
      />
    </Page>
  );
}
