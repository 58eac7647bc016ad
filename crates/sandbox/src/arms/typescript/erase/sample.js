import {         b, c as d, E } from "gg";
import whole              from "lib:k";
;                            
;                           
;                      
;                                      
;                                           
;                       
;                          
;                    
;                
;                   
;                           
         class O    extends Array                       {
  ;                 
  ;                q          = "é";
  ;         r    ;
  ;      static s        
  ;      [d.t] = 1
  ;        *u()               {}
  ;                
  ;                      
  constructor(x      ) { super(); }
  ;                  
  ;        z             (            a   , ...rest     )         { return          b(a ); }
  get aa()         { return 1                          ; }
}
;                              
function bb(a          )          { return a; }
const cc = async     ({ a }          , f                        
   
) => { await a; return (a           )     ; };
let dd                 , ee               , ff = new Map                    (), gg = bb   ;
for (const hh of whole            ) ff .get        `x${hh          }`;
try { throw E; } catch (error         ) { ({ E: 1, b }).E; }
const ii = class                 { h         };
const jj = (a          ) +         dd  / 2;
