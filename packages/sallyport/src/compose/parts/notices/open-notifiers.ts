import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import { valuesOf } from '../../../domain/settings/setting.ts';
import type { SecretStore } from '../../../external/secret-store.port.ts';
import { createNoticeQueue } from '../../../orchestration/notices/notice-queue.ts';
import type { Notifier } from '../../../orchestration/notifier.port.ts';
import { createConsoleNotifier } from '../../../orchestration/notifiers/console/console-notifier.ts';
import { createLogNotifier } from '../../../orchestration/notifiers/log/log-notifier.ts';
import { SMTP_SETTINGS } from '../../../orchestration/notifiers/smtp/settings.ts';
import { createSmtpNotifier } from '../../../orchestration/notifiers/smtp/smtp-notifier.ts';
import { APPROVAL_WEBHOOK_SETTINGS } from '../../../orchestration/notifiers/webhook/settings.ts';
import { createWebhookNotifier } from '../../../orchestration/notifiers/webhook/webhook-notifier.ts';
import type { Log } from '../../../telemetry/log.ts';
import type { Settings } from '../../settings.ts';

/** Dependencies of the notifiers. */
export interface NotifierIngredients {
  readonly settings: Settings;
  readonly log: Log;
  readonly secrets: SecretStore;
}

type Make = (from: NotifierIngredients) => Notifier;

const NOTIFIERS: Readonly<Record<string, Make>> = {
  console: () => createConsoleNotifier(process.stderr),
  log: ({ log }) => createLogNotifier(log),
  webhook(from) {
    const { settings } = from;
    demand(settings, 'notifiers.webhook_url', 'notifiers.webhook_secret');
    const values = valuesOf(APPROVAL_WEBHOOK_SETTINGS, settings);
    return createWebhookNotifier({ id: 'approvals', ...values }, { secret: secretOf(from) });
  },
  smtp(from) {
    const { settings } = from;
    demand(settings, 'notifiers.smtp_host', 'notifiers.smtp_from');
    return createSmtpNotifier(valuesOf(SMTP_SETTINGS, settings), { secret: secretOf(from) });
  },
};

/**
 * The notifiers, each with a queue of its own, so that a slow one holds up no other.
 * @throws ToolLayerError E3801 for an unknown notifier, or one that lacks a setting
 */
export function openNotifiers(opened: AsyncDisposableStack, from: NotifierIngredients): readonly Notifier[] {
  return from.settings['notifiers.enabled'].map((name) => {
    const make = Object.hasOwn(NOTIFIERS, name) ? NOTIFIERS[name] : undefined;
    if (make === undefined) {
      const known = Object.keys(NOTIFIERS).join(', ');
      throw new ToolLayerError('E3801', `notifiers.enabled names ${JSON.stringify(name)}; there are ${known}.`);
    }
    return opened.use(createNoticeQueue(make(from), { log: from.log }));
  });
}

type Needed = 'notifiers.webhook_url' | 'notifiers.webhook_secret' | 'notifiers.smtp_host' | 'notifiers.smtp_from';

function demand(settings: Settings, ...keys: readonly Needed[]): void {
  const absent = keys.find((key) => settings[key] === '');
  if (absent === undefined) return;
  throw new ToolLayerError('E3801', `notifiers.enabled needs ${absent}. Set it, or leave the notifier out.`);
}

const secretOf =
  ({ settings, secrets }: NotifierIngredients) =>
  async (name: string): Promise<string> =>
    (await secrets.read(settings['tenant.default'], [name])).get(name) ?? '';
