import { expect, it } from 'vitest';
import { addressGroupOf } from '../../src/transport/address-group.ts';

it.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2/64'],
  ['2001:db8:1:2::1', '2001:db8:1:2/64'],
  ['2001:0db8:0001:0002:ffff:ffff:ffff:ffff', '2001:db8:1:2/64'],
  ['2001:db8:1:3::1', '2001:db8:1:3/64'],
  ['2001:db8::1', '2001:db8:0:0/64'],
  ['::1', '0:0:0:0/64'],
  ['fe80::1%eth0', 'fe80:0:0:0/64'],
  ['fe80::2%eth1', 'fe80:0:0:0/64'],
])('%s belongs to %s', (remoteAddress, group) => {
  expect(addressGroupOf({ remoteAddress })).toBe(group);
});
