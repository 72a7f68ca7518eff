// A process of its own, which is killed in the middle of a booking: node interrupted.ts <data folder>
import { createToolLayer } from '../../packages/sallyport/src/index.ts';
import { registerBooking } from './booking.ts';

const [, , folder = ''] = process.argv;
const layer = await createToolLayer({ settings: { data_folder: folder, 'log.level': 'silent' } });
await registerBooking(layer, new Set(), () => console.log('taken'));
const { capability_token } = await layer.mintToken({ agent_did: 'did:example:clerk' });
await layer.invoke({ tool_id: 'book-seat', parameters: { after: 'hangs' }, capability_token });
