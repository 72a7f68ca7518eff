import { ToolLayerError } from '@sallyport/std/error/tool-layer-error';
import type { SecretStore } from '../../external/secret-store.port.ts';
import { createNoticeQueue } from '../../orchestration/notices/notice-queue.ts';
import type { Notifier } from '../../orchestration/notifier.port.ts';
import { createConsoleNotifier } from '../../orchestration/notifiers/console/console-notifier.ts';
import { createLogNotifier } from '../../orchestration/notifiers/log/log-notifier.ts';
import { createSmtpNotifier } from '../../orchestration/notifiers/smtp/smtp-notifier.ts';
import { createWebhookNotifier } from '../../orchestration/notifiers/webhook/webhook-notifier.ts';
import type { Log } from '../../telemetry/log.ts';
import type { Settings } from '../settings.ts';

/** What notifiers need. */
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
    return createWebhookNotifier(
      {
        id: 'approvals',
        url: needed(settings, 'notifiers.webhook_url'),
        secret: needed(settings, 'notifiers.webhook_secret'),
        answerTokens: settings['notifiers.webhook_answer_tokens'],
      },
      { secret: secretOf(from) },
    );
  },
  smtp(from) {
    const { settings } = from;
    const userSecret = settings['notifiers.smtp_user_secret'];
    const passwordSecret = settings['notifiers.smtp_password_secret'];
    const answerUrl = settings['notifiers.answer_url'];
    return createSmtpNotifier(
      {
        host: needed(settings, 'notifiers.smtp_host'),
        port: settings['notifiers.smtp_port'],
        security: settings['notifiers.smtp_security'],
        from: needed(settings, 'notifiers.smtp_from'),
        to: settings['notifiers.smtp_to'],
        ...(userSecret === '' ? {} : { userSecret }),
        ...(passwordSecret === '' ? {} : { passwordSecret }),
        ...(answerUrl === '' ? {} : { answerUrl }),
      },
      { secret: secretOf(from) },
    );
  },
};

/**
 * Those who tell people of approvals, each behind a queue of its own, so that a slow one holds up nobody.
 * @throws ToolLayerError E3801 for a notifier that there is none of, or that lacks a setting
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

function needed(settings: Settings, key: Needed): string {
  const value = settings[key];
  if (value !== '') return value;
  throw new ToolLayerError('E3801', `notifiers.enabled needs ${key}. Set it, or leave the notifier out.`);
}

const secretOf =
  ({ settings, secrets }: NotifierIngredients) =>
  async (name: string): Promise<string> =>
    (await secrets.read(settings['tenant.default'], [name])).get(name) ?? '';
