/**
 * The client that the conformance suite starts, once for each scenario: it gives the scenario to the test, which has the
 * layer loaded, and ends as the test answers. So forty scenarios that run at once load the layer once.
 */
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

const socket = connect(process.env.SALLYPORT_SCENARIO_SOCKET);
socket.end(
  JSON.stringify({
    name: process.env.MCP_CONFORMANCE_SCENARIO,
    url: process.argv.at(-1),
    context: JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}'),
  }),
);
const failure = await text(socket);
if (failure !== '') console.error(failure);
process.exitCode = failure === '' ? 0 : 1;
