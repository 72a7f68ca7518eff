import type { Ingredients } from './ingredients.ts';
import { loadInstanceId } from './keys/instance-id.ts';
import { openAudit } from './open-audit.ts';
import { openIdentity } from './open-identity.ts';
import { openPolicies } from './open-policies.ts';
import { openPolicyUpdates, openStorage } from './open-storage.ts';

/** Opens the parts on which all others depend: database, identity, policies, and the ledger of this instance. */
export async function openFoundation(opened: AsyncDisposableStack, from: Ingredients) {
  const { settings } = from;
  const opening = openStorage(from.server, from).then((ready) => opened.adopt(ready, (storage) => storage.close()));
  const updates = opening.then((storage) => openPolicyUpdates(storage)).then((ready) => opened.use(ready));
  const beside = Promise.all([
    openIdentity(
      from,
      opening.then(({ database }) => database),
    ).then((ready) => opened.use(ready)),
    openPolicies(from, updates).then((ready) => opened.use(ready)),
    loadInstanceId(settings['data_folder']),
  ]);
  // Waits for the database even when another part failed: nothing could close it afterwards.
  await Promise.allSettled([opening, updates, beside]);
  const storage = await opening;
  const [identity, policies, instanceId] = await beside;
  const { ledger, outside } = await openAudit(opened, from, storage, identity.signer, instanceId);
  await policies.recordIn(ledger);
  return { storage, identity, policies, instanceId, ledger, outside };
}
