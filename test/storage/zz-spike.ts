import { openDatabase } from '/work/main/src/storage/sqlite/schema.ts';
const t=performance.now(); let t1=0,t2=0;
const rss=()=> (process.memoryUsage().rss/1048576).toFixed(1);
console.log('rss before', rss());
let orm:any;
const db = await openDatabase(process.argv[2]!, async (db)=>{ const {openOrm}=await import('/work/main/src/storage/sqlite/orm.ts'); t1=performance.now(); orm=await openOrm(db, (m)=>console.log('WARN',m)); t2=performance.now(); await orm.migrate(); });
console.log('import',t1-t,'init',t2-t1,'migrate',performance.now()-t2,'rss',rss());
console.log(db.pragma('page_size'), db.pragma('application_id'), db.pragma('synchronous'), db.pragma('journal_mode'));
if(orm){ const m=orm.management; 
 const plan={verifier:new Uint8Array(32),createdAtMs:Date.now(),organization:{id:'o',name:"O'x?y",slug:'o'},team:{id:'t',name:'t',slug:'t'},project:{id:'p',name:'p',slug:'p',keyHash:new Uint8Array(32).fill(7),keyHint:'abcd',keyImported:true},member:{userId:'u',email:'e',name:'n',bindingId:'b'},apiKey:{id:'k',name:'k',bindingId:'kb',secretHash:new Uint8Array(32).fill(9),imported:false},auditId:'a'};
 console.log(await m.bootstrap(plan), await m.bootstrap(plan));
 await m.insertApiKey({id:'k2',organizationId:'o',keyType:'service',name:'x',userId:null,createdByUserId:null,permissionMode:'restricted',secretHash:new Uint8Array(3),imported:false,expiresAtMs:1234567890123,createdAtMs:1,bindings:[{id:'1',role:'CUSTOM',scopeType:'ORGANIZATION',scopeId:'o',permissions:['a','b']}]});
 const ev={id:'e1',projectId:'p',name:'n',slug:'s',type:'evaluator',configJson:'{"a":"?"}',workflowId:null,workflowName:null,workflowIcon:null,copiedFromEvaluatorId:null,fields:[{identifier:'i',type:'t',optional:true}],outputFields:[],createdAtMs:1790000000000,updatedAtMs:2};
 console.log(await m.insertEvaluator(ev,5), await m.insertEvaluator({...ev,id:'e2'},5), await m.insertEvaluator({...ev,id:'e3',slug:'z'},1));
 console.log(await m.findEvaluator('p','e1'), await m.findEvaluator('p','s').then((x:any)=>x.id), await m.findEvaluator('q','s'));
 console.log(db.prepare('select * from projects').all(), db.prepare('select * from api_keys').all(), db.prepare('select * from api_key_bindings').all());
}
console.log('rss', rss());
