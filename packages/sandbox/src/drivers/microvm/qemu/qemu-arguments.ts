import { CHANNEL_NAMES, type MachineSize } from '../machine.ts';
import type { QemuSettings } from '../settings.ts';

/** Name of the socket of a channel in the folder of its machine. */
export const channelSocket = (name: string): string => `${name}.sock`;
export const MONITOR_SOCKET = 'monitor.sock';

/** What the machine does with its state at the start. */
export type StateUse = 'none' | 'saves' | 'restores';

/**
 * Descriptors that QEMU gets. It opens kernel and file system by them, since under its own uid it may not enter the folder
 * that they lie in; a restored machine reads its state from the third.
 */
const KERNEL_FD = 3;
const INITRD_FD = 4;
const STATE_FD = 5;

const byDescriptor = (descriptor: number): string => `/proc/self/fd/${descriptor}`;

/**
 * Nothing is on the kernel's command line but what makes the boot short. Self tests of cryptography and drivers for what is not
 * there are left out; a fault of the kernel ends the machine.
 */
const KERNEL_OPTIONS = [
  'quiet',
  'loglevel=0',
  'panic=-1',
  'cryptomgr.notests',
  'apparmor=0',
  'audit=0',
  '8250.nr_uarts=0',
  'i8042.noaux',
  'no_timer_check',
];

/** QEMU gives up what it will not need: starting programs, gaining privileges, changing its own limits. */
const CALL_FILTER = 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny';

/**
 * Arguments of QEMU for one machine: no network, no disk, no screen, no monitor, four serial channels.
 */
export function qemuArguments(accelerator: QemuSettings['accelerator'], size: MachineSize, state: StateUse): string[] {
  return [
    ...['-nodefaults', '-no-user-config', '-no-reboot', '-display', 'none', '-name', 'sallyport'],
    ...[
      '-machine',
      'pc,usb=off,vmport=off,smbus=off,hpet=off',
      '-smp',
      String(size.processors),
      '-m',
      String(size.memoryMb),
    ],
    ...(accelerator === 'kvm' ? ['-accel', 'kvm', '-cpu', 'host'] : ['-accel', 'tcg,tb-size=64']),
    ...['-kernel', byDescriptor(KERNEL_FD), '-initrd', byDescriptor(INITRD_FD), '-append', KERNEL_OPTIONS.join(' ')],
    ...['-device', `virtio-serial-pci,max_ports=${CHANNEL_NAMES.length + 1}`],
    ...CHANNEL_NAMES.flatMap((name, index) => [
      ...['-chardev', `socket,id=${name},path=${channelSocket(name)}`],
      ...['-device', `virtserialport,nr=${index + 1},chardev=${name},name=sallyport.${name}`],
    ]),
    ...(state === 'saves'
      ? ['-chardev', `socket,id=monitor,path=${MONITOR_SOCKET}`, '-mon', 'monitor,mode=control']
      : []),
    ...(state === 'restores' ? ['-incoming', `fd:${STATE_FD}`] : []),
    ...['-sandbox', CALL_FILTER],
  ];
}
