// The command that the public suite starts as a client: it gives the address of the suite's server to the test that
// waits at the first argument, and ends when the test is done with it.
const [, , test, server] = process.argv;
await fetch(test, { method: 'POST', body: server });
