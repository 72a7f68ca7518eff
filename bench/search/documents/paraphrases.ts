/** Passages of this project's documents, each with the same said in other words by hand. */
export const PARAPHRASES: readonly (readonly [original: string, paraphrase: string])[] = [
  [
    'A tool that an agent may not see does not exist for it: it is in no list, its manifest cannot be read, and a call ends with E3001 in the same words as for a name that nobody ever used.',
    'If an agent lacks permission to see some tool, the agent is treated as though that tool were never there. No listing shows it, nobody can open its manifest, and trying to call it gives the error E3001, phrased just like the one for names that were never taken.',
  ],
  [
    'Tools of the catalogue are on offer to every tenant, and a tenant has one only after its operator takes it. Changing anything in the tenant that offers them takes the role admin there.',
    "Every tenant may pick from the catalogue's tools, but must have its operator adopt one before it can be used. To edit the tenant providing them you need to be an admin in that tenant.",
  ],
  [
    'Without an activation a tool is enabled. An activation says for an agent and a tool whether the tool is enabled, and what of its policy changes.',
    'Tools are switched on unless an activation exists. Such a record decides, for one agent and one tool, if it may be used and which parts of the policy are altered.',
  ],
  [
    'The tenant of a request is the tenant_id of its credential and nothing else: no header, body member, _meta or address changes it. Names of tenants are compared byte by byte. What belongs to another tenant does not exist.',
    "Only the credential determines which tenant a request belongs to, by its tenant_id. Headers, members of the body, metadata and addresses have no influence. Tenant names must be identical in every byte, and another tenant's property is treated as absent.",
  ],
  [
    'A shell tool runs in a sandbox that sees nothing of the machine but what its manifest names. The network is closed unless hosts are granted. When it exceeds its memory it is ended.',
    'Command line tools are executed inside an isolated environment, in which the host computer is invisible except for things listed in the manifest. It cannot reach any hosts that were not permitted, and using too much memory terminates it.',
  ],
  [
    'After a crash the next start settles what was left open: safe calls end as call again, the others as outcome_unknown, and nothing is repeated.',
    'When the process died unexpectedly, unfinished calls are closed at the following startup. Those without side effects are marked to be retried by the caller, all remaining ones get an unknown outcome; no call is run a second time.',
  ],
  [
    'Secrets in the definition of an upstream, tokens of logins at upstreams, and arguments of waiting calls, are encrypted in their rows; the key is in the data folder, or where secrets.key_file says.',
    'The database holds only ciphertext for confidential values in upstream definitions, login tokens and parameters of pending calls. Their encryption key lies in the folder for data unless the setting secrets.key_file points elsewhere.',
  ],
  [
    'Each instance chains its events by hash and signs the head of the chain from time to time; audit verify names the first broken entry, and calls whose row and events differ.',
    'Audit events of an instance are linked through hashes, and now and then the newest link gets a signature. The command for verification reports the earliest entry that was damaged as well as calls for which the record disagrees with its events.',
  ],
];
