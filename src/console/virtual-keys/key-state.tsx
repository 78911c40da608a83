import { timestampMs } from '@bufbuild/protobuf/wkt';
import { type VirtualKey, VirtualKeyStatus } from '../../../gen/spandrel/v1/virtual_keys_pb.js';
import { Badge } from '../design/button.tsx';

/** Whether a key works. */
export function KeyState({ virtualKey: { status, expiresAt } }: { readonly virtualKey: VirtualKey }) {
  if (status === VirtualKeyStatus.REVOKED) return <Badge tone="bad">revoked</Badge>;
  if (status === VirtualKeyStatus.DISABLED) return <Badge tone="warn">disabled</Badge>;
  if (expiresAt && timestampMs(expiresAt) <= Date.now()) return <Badge tone="bad">expired</Badge>;
  return <Badge tone="good">active</Badge>;
}
