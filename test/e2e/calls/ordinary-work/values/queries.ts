/** SQL of many kinds, text about SQL injection, and GraphQL, MongoDB, Cypher and other queries. */
export const queries: readonly string[] = [
  'SELECT id, name FROM users WHERE id = 1 OR 1=1',
  `SELECT u.id, u.name, count(o.id) AS orders
FROM users AS u
LEFT JOIN orders AS o ON o.user_id = u.id AND o.state <> 'cancelled'
WHERE u.created_at >= now() - interval '30 days' AND (u.name ILIKE '%o''neill%' OR u.email LIKE 'test\\_%' ESCAPE '\\')
GROUP BY u.id
HAVING count(o.id) > 3
ORDER BY orders DESC NULLS LAST
LIMIT 20 OFFSET 40;
`,
  `SELECT name, price FROM products WHERE price < 10
UNION SELECT name, price FROM discontinued -- both tables have the same two columns
UNION ALL SELECT NULL, NULL;`,
  `-- migrations/0012_rename_customers.sql
/* Up: copy, then drop.
   Down: see 0012_rename_customers.down.sql */
BEGIN;
DROP TABLE IF EXISTS customers_old CASCADE;
ALTER TABLE customers RENAME TO customers_old;
CREATE TABLE customers (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL CHECK (name <> ''),
  notes jsonb NOT NULL DEFAULT '{}'::jsonb
);
INSERT INTO customers (name) SELECT name FROM customers_old;
DROP TABLE customers_old; -- no way back
COMMIT;
`,
  `DROP TABLE IF EXISTS sessions; DELETE FROM tokens WHERE 1=1; TRUNCATE audit_log; VACUUM; -- reset of staging`,
  `CREATE OR REPLACE FUNCTION touch_updated_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.* IS DISTINCT FROM OLD.* THEN
    NEW.updated_at := clock_timestamp();
  END IF;
  EXECUTE format('UPDATE %I SET n = n + 1 WHERE id = %L', TG_TABLE_NAME || '_stats', NEW.id);
  RAISE NOTICE 'touched "%" of %', NEW.id, TG_TABLE_NAME;
  RETURN NEW;
END;
$$;
CREATE TRIGGER t BEFORE UPDATE ON items FOR EACH ROW EXECUTE FUNCTION touch_updated_at();
`,
  `DELIMITER //
CREATE PROCEDURE archive_orders(IN before_date DATE)
BEGIN
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  START TRANSACTION;
  INSERT INTO orders_archive SELECT * FROM orders WHERE placed < before_date;
  DELETE FROM orders WHERE placed < before_date;
  COMMIT;
END //
DELIMITER ;
CALL archive_orders('2024-01-01');
`,
  `CREATE PROCEDURE dbo.FindUser @Name nvarchar(100) AS
BEGIN
  SET NOCOUNT ON;
  DECLARE @sql nvarchar(max) = N'SELECT TOP (10) [Id], [Name] FROM [dbo].[Users] WHERE [Name] = @p';
  EXEC sp_executesql @sql, N'@p nvarchar(100)', @p = @Name;
  IF @@ROWCOUNT = 0 PRINT 'nobody is called ' + QUOTENAME(@Name, '''');
END
GO
`,
  `INSERT INTO authors (id, name, motto) VALUES
  (1, 'Siobhan O''Example', 'It''s "fine"'),
  (2, 'N''Sample', 'Read; write; sleep'),
  (3, 'Bo''); DROP TABLE authors;--', 'a name in our seed data which must stay a name'),
  (4, 'Ünïcödé 名前', E'tab\\tand newline\\n'),
  (5, '', NULL)
ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name, motto = EXCLUDED.motto;
`,
  `In week three of the course we look at a log-in form which builds its query by joining strings. When a student types
' OR '1'='1 as the password, the WHERE clause becomes pass = '' OR '1'='1', which is true for every row. The classic
'; DROP TABLE students; -- needs a driver that allows several statements at once. The remedy is the same for both:
bind the values with placeholders (?, $1 or :name) and never join strings.`,
  `Q: Why does "SELECT * FROM t WHERE id = " + id break?
A: If id is "1 UNION SELECT password FROM admins--", the server runs two queries. With sleep(5) or WAITFOR DELAY '0:0:5'
   in place of the second one an attacker learns things from the time alone ("blind" injection).`,
  `test('a hostile name is stored as it is', async () => {
  const name = "'; DROP TABLE students; --";
  await db.query('INSERT INTO students (name) VALUES ($1)', [name]);
  const { rows } = await db.query('SELECT name FROM students ORDER BY id DESC LIMIT 1');
  expect(rows).toEqual([{ name }]);
  expect(await tableExists('students')).toBe(true);
});
`,
  `PREPARE by_mail (text) AS SELECT id FROM users WHERE lower(email) = lower($1);
EXECUTE by_mail('someone+tag@example.org');
DEALLOCATE by_mail;`,
  `$stmt = $pdo->prepare('UPDATE users SET name = :name, bio = ? WHERE id = :id'); // mixes both kinds: an error
$stmt->execute(['name' => "O'Test", 'id' => 7]);`,
  `EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM orders WHERE user_id = 42;
                                    QUERY PLAN
-----------------------------------------------------------------------------------
 Bitmap Heap Scan on orders  (cost=4.37..24.10 rows=9 width=72) (actual time=0.031..0.044 rows=11 loops=1)
   Recheck Cond: (user_id = 42)
   Heap Blocks: exact=7
   Buffers: shared hit=9
   ->  Bitmap Index Scan on orders_user_id_idx  (cost=0.00..4.36 rows=9 width=0)
         Index Cond: (user_id = 42)
 Planning Time: 0.117 ms
 Execution Time: 0.079 ms
(8 rows)
`,
  `QUERY PLAN
|--SEARCH posts USING INDEX posts_by_author (author=? AND created>?)
\`--USE TEMP B-TREE FOR ORDER BY`,
  `WITH RECURSIVE tree(id, path, depth) AS (
  SELECT id, '/' || name, 0 FROM folders WHERE parent_id IS NULL
  UNION ALL
  SELECT f.id, t.path || '/' || f.name, t.depth + 1 FROM folders f JOIN tree t ON f.parent_id = t.id WHERE t.depth < 32
)
SELECT *, row_number() OVER (PARTITION BY depth ORDER BY path) AS n FROM tree;
`,
  `SELECT data->>'name', data#>>'{address,city}', data @> '{"tags": ["a"]}', data ? 'k', x::int, "Quoted ""name"""
FROM docs WHERE data @? '$.items[*] ? (@.price > 10 && @.name like_regex "^a")' AND note ~* '\\mfoo\\M' AND a != b;`,
  `GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA app TO app_rw;
REVOKE ALL ON DATABASE app FROM PUBLIC;
CREATE ROLE app_rw LOGIN PASSWORD 'change-me-EXAMPLE' VALID UNTIL '2030-01-01';
COPY (SELECT * FROM app.items) TO STDOUT WITH (FORMAT csv, HEADER, DELIMITER ';', QUOTE '"');
LOAD DATA LOCAL INFILE '/tmp/items.csv' INTO TABLE items FIELDS TERMINATED BY ',' ENCLOSED BY '"' IGNORE 1 LINES;
`,
  `psql (16.2)
Type "help" for help.

app=> \\d+ users
app=> select 1/0;
ERROR:  division by zero
app=> select * from user where name = 'x
app'> ';
ERROR:  syntax error at or near "where"
LINE 1: select * from user where name = 'x
                           ^
app=> \\q
`,
  `query Feed($first: Int = 10, $after: String, $mine: Boolean!) {
  viewer {
    id
    feed(first: $first, after: $after, filter: { state: OPEN, text: "it's \\"quoted\\" & <b>" }) {
      pageInfo { hasNextPage endCursor }
      edges { node { ...PostParts author @include(if: $mine) { name } } }
    }
  }
}

fragment PostParts on Post { id title # the body comes later
}
`,
  `"""A comment below a post."""
type Comment implements Node @key(fields: "id") {
  id: ID!
  body(format: Format = HTML): String! @deprecated(reason: "Use \`html\`; it's safe.")
  replies(first: Int!): [Comment!]!
}
union Hit = Post | Comment
extend type Mutation { deleteComment(id: ID!): Boolean! }
`,
  String.raw`{"query":"mutation($t:String!){addPost(title:$t){id}}","variables":{"t":"<img onerror=a(1)>\n\u00e9"}}`,
  `db.orders.aggregate([
  { $match: { state: { $in: ['paid', 'sent'] }, total: { $gte: 100, $lt: 1e4 }, 'address.city': /^São/i } },
  { $unwind: '$lines' },
  { $group: { _id: '$lines.sku', n: { $sum: '$lines.count' }, last: { $max: '$$ROOT.placed' } } },
  { $sort: { n: -1 } },
]);
`,
  `// A log-in that takes {"user": "admin", "pass": {"$ne": null}} from the body matches any password: check types.
db.users.findOne({ user: String(req.body.user), pass: String(req.body.pass) });
db.users.find({ $where: 'this.credits == this.debits' }); // avoid; runs code on the server`,
  `MATCH (a:Person {name: 'Mara'})-[r:KNOWS*1..3]->(b:Person)
WHERE a <> b AND NOT (a)-[:BLOCKS]->(b) AND b.age >= $minAge
WITH b, count(r) AS links ORDER BY links DESC
MERGE (t:Tag {name: "friend's friend"})
ON CREATE SET t.created = timestamp()
RETURN b.name AS name, links, collect(DISTINCT t.name)[..5];
// MATCH (n) DETACH DELETE n
`,
  `PREFIX foaf: <http://xmlns.com/foaf/0.1/>
SELECT ?name (COUNT(?f) AS ?n) WHERE {
  ?p foaf:name ?name ; foaf:knows ?f .
  FILTER(LANG(?name) = "en" && !REGEX(STR(?p), "^_:"))
} GROUP BY ?name
`,
  'EVAL "redis.call(\'SET\', KEYS[1], ARGV[1]); return redis.call(\'TTL\', KEYS[1])" 1 "user:{42}:name" "O\'Test"',
  `{
  "query": { "bool": {
    "must": [{ "query_string": { "query": "title:(\\"big apple\\" OR pear~2) AND -draft:true AND price:[10 TO *]" } }],
    "filter": [{ "range": { "date": { "gte": "now-1d/d", "lt": "now/d" } } }]
  } },
  "highlight": { "pre_tags": ["<mark>"], "post_tags": ["</mark>"], "fields": { "body": {} } }
}`,
  `sum by (code) (rate(http_requests_total{job="api", path!~"/health.*|/metrics", code=~"5.."}[5m])) / ignoring(code)
  group_left sum(rate(http_requests_total{job="api"}[5m])) > 0.01`,
  `SET @a := 1;
SELECT @a := @a + 1, \`order\`.\`key\`, 0x41424344, b'101', CONCAT('a', CHAR(39), 'b') /*!80000 , 'new' */
FROM \`order\` # a comment of another kind
WHERE id IN (1, 2, 3) AND deleted = 0 INTO OUTFILE '/var/lib/exports/a.csv';`,
  "(&(objectClass=person)(|(uid=mara)(mail=mara@example.org))(!(cn=*admin*))(cn=O'Test \\28Berlin\\29))",
  `//book[@lang='en' and price < 20]/title[contains(., "isn't")]/text() | //a[starts-with(@href, 'x')]`,
  `BEGIN
  FOR r IN (SELECT table_name FROM user_tables WHERE table_name LIKE 'TMP$_%' ESCAPE '$') LOOP
    EXECUTE IMMEDIATE 'DROP TABLE "' || r.table_name || '" PURGE';
  END LOOP;
  DBMS_OUTPUT.PUT_LINE(q'[It's done; "all" gone]');
END;
/
`,
];
