import{f as a,g as b,h as c,i as d}from"./app-chunk-XJX4MAKI.js";import"./app-chunk-FGJGD63B.js";export{a as Play,b as baseOf,d as play,c as written};
