/** Creates a virtual key, and shows its secret once, with what an application needs to use it. */

import { useMutation } from '@connectrpc/connect-query';
import { useNavigate } from '@tanstack/react-router';
import { VirtualKeyService } from '../../../gen/spandrel/v1/virtual_keys_pb.js';
import { SecretOnce } from '../design/confirm.tsx';
import { Back, Page } from '../design/page.tsx';
import { useRefresh } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';
import { Connect } from './connect.tsx';
import { emptyKey, toKey } from './key-draft.ts';
import { KeyForm } from './key-form.tsx';

export default function NewVirtualKeyPage() {
  const navigate = useNavigate();
  const refresh = useRefresh();
  const { account } = useSession();
  const create = useMutation(VirtualKeyService.method.createVirtualKey, { onSuccess: () => void refresh() });
  const { secret = null, virtualKey } = create.data ?? {};
  return (
    <Page
      back={<Back to="/-/virtual-keys" label="Virtual keys" />}
      title="New virtual key"
      sub="A name is all it needs; everything else has a default."
    >
      <KeyForm
        start={emptyKey(account.projects[0]?.id ?? '')}
        isNew
        action="Create the key"
        call={create}
        onSubmit={(draft) => create.mutate({ ...toKey(draft), traceProjectId: draft.projectId })}
      />
      <SecretOnce
        secret={secret}
        title="The new virtual key"
        onClose={() => void navigate({ to: '/-/virtual-keys/$keyId', params: { keyId: virtualKey?.id ?? '' } })}
      >
        <Connect models={virtualKey?.config?.modelsAllowed?.names ?? []} />
      </SecretOnce>
    </Page>
  );
}
