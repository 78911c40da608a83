/** The actions on a virtual key that the caller may do: rotate, disable, enable and revoke. */

import { useMutation } from '@connectrpc/connect-query';
import { useState } from 'react';
import { type VirtualKey, VirtualKeyService, VirtualKeyStatus } from '../../../gen/spandrel/v1/virtual_keys_pb.js';
import { ConfirmButton, ModalButton, SecretOnce } from '../design/confirm.tsx';
import { Form, SelectField } from '../design/form.tsx';
import { nameControls } from '../design/format.ts';
import { useRefresh } from '../session/refresh.ts';
import { useSession } from '../session/session.tsx';

const REASON_HINT = 'Included in the event that webhooks receive.';

export function KeyActions({ virtualKey }: { readonly virtualKey: VirtualKey }) {
  const { may } = useSession();
  const { id, status, name = '' } = virtualKey;
  const shown = nameControls(name);
  if (status === VirtualKeyStatus.REVOKED) return null;
  return (
    <>
      {may('virtualKeys:rotate') && <Rotate id={id} name={shown} />}
      {may('virtualKeys:manage') && (
        <>
          {status === VirtualKeyStatus.DISABLED ? (
            <ConfirmButton
              label="Enable"
              title={`Enable ${shown}`}
              action="Enable it"
              typed={null}
              reasonHint={REASON_HINT}
              method={VirtualKeyService.method.enableVirtualKey}
              input={(reason) => ({ id, ...(reason && { reason }) })}
            >
              Requests with this key are accepted again.
            </ConfirmButton>
          ) : (
            <ConfirmButton
              label="Disable"
              title={`Disable ${shown}`}
              action="Disable it"
              typed={null}
              reasonHint={REASON_HINT}
              method={VirtualKeyService.method.disableVirtualKey}
              input={(reason) => ({ id, ...(reason && { reason }) })}
            >
              Requests with this key are refused at once, until it is enabled again.
            </ConfirmButton>
          )}
          <ConfirmButton
            label="Revoke"
            variant="danger"
            title={`Revoke ${shown}`}
            action="Revoke permanently"
            typed="revoke"
            reasonHint={REASON_HINT}
            method={VirtualKeyService.method.revokeVirtualKey}
            input={(reason) => ({ id, ...(reason && { reason }) })}
          >
            Whoever uses it is refused from the next request on. This cannot be undone; disabling it can.
          </ConfirmButton>
        </>
      )}
    </>
  );
}

/** Seconds that the secret before works on. */
const OVERLAPS = [
  [0, 'At once'],
  [3_600, 'In an hour'],
  [86_400, 'In a day'],
  [604_800, 'In a week'],
  [2_592_000, 'In 30 days'],
] as const;
type Overlap = (typeof OVERLAPS)[number][0];

type RotateProps = { readonly id: string; readonly name: string };

function Rotate({ id, name }: RotateProps) {
  const refresh = useRefresh();
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <>
      <ModalButton label="Rotate" title={`Rotate ${name}`}>
        {(close) => (
          <NewSecret
            id={id}
            onClose={close}
            onMade={(made) => {
              close();
              setSecret(made);
              void refresh();
            }}
          />
        )}
      </ModalButton>
      <SecretOnce secret={secret} title="The new secret" onClose={() => setSecret(null)} />
    </>
  );
}

type NewSecretProps = {
  readonly id: string;
  readonly onClose: () => void;
  readonly onMade: (secret: string) => void;
};

/** Closed once the secret is there, so that the call does not keep it. */
function NewSecret({ id, onClose, onMade }: NewSecretProps) {
  const [overlapS, setOverlap] = useState<Overlap>(86_400);
  const rotate = useMutation(VirtualKeyService.method.rotateVirtualKey, { onSuccess: ({ secret }) => onMade(secret) });
  return (
    <Form
      action="Make a new secret"
      disabled={rotate.isPending}
      error={rotate.error}
      onSubmit={() => rotate.mutate({ id, overlapS })}
      onCancel={onClose}
    >
      <p>The key gets a new secret, which works at once. A secret from before the last rotation stops working now.</p>
      <SelectField
        label="The current secret ends"
        value={overlapS}
        options={OVERLAPS}
        onChange={(chosen) => setOverlap(chosen)}
      />
    </Form>
  );
}
