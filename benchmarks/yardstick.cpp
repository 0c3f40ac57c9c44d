// The yardstick of `benchmarks/compare.py`: the method "strips" by hand in AVX-512 C++, one thread, float32.
// The library does not use it; its kernels are held against it.
// Build:  c++ -O3 -march=native -o yardstick yardstick.cpp
// Run:    ./yardstick D FILE SIDE REPS
//   FILE: float32 rows [min.., max..] (2*D numbers a row, C order).
//   SIDE: how wide a strip is, in world units; 0 tries several.
//   Prints: pairs, the best of REPS in milliseconds, its parts (count, scatter, sort + sweep + write), the
//   best side, and how many strips a box lies in on average.
#include <immintrin.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <algorithm>
#include <cmath>
#include <time.h>
#include <sys/mman.h>
static double now(){timespec t;clock_gettime(CLOCK_MONOTONIC,&t);return t.tv_sec+1e-9*t.tv_nsec;}
typedef uint32_t u32; typedef uint64_t u64;
template<class T> struct Buf{T*p=0;size_t c=0;T*get(size_t n){if(n>c){free(p);c=n+n/2;size_t by=(c*sizeof(T)+(1<<21)-1)>>21<<21;p=(T*)aligned_alloc(1<<21,by);madvise(p,by,MADV_HUGEPAGE);memset(p,0,c*sizeof(T));}return p;}};
template<int D> struct Rec{float mn[D],mx[D];u32 id;u32 q;}; // q: cls bits 31,30 | x bucket
struct W{Buf<char> rec;Buf<u32> cnt,yz;Buf<u64> out;};
template<int D> size_t pairs(const float*mn,const float*mx,size_t n,float sy,W&w,double*ph){
  double t0=now();typedef Rec<D> R;
  __m512 L[D],Hh[D];for(int d=0;d<D;d++){L[d]=_mm512_set1_ps(1e30f);Hh[d]=_mm512_set1_ps(-1e30f);}
  float lo[3],hi[3];size_t tot=n*D,st=16*D,i0=0;for(;i0+st<=tot;i0+=st)for(int d=0;d<D;d++){L[d]=_mm512_min_ps(L[d],_mm512_loadu_ps(mn+i0+16*d));Hh[d]=_mm512_max_ps(Hh[d],_mm512_loadu_ps(mx+i0+16*d));}
  for(int d=0;d<D;d++){lo[d]=1e30f;hi[d]=-1e30f;}float tmp[16];
  for(int d=0;d<D;d++){_mm512_storeu_ps(tmp,L[d]);for(int e=0;e<16;e++)lo[(16*d+e)%D]=std::min(lo[(16*d+e)%D],tmp[e]);_mm512_storeu_ps(tmp,Hh[d]);for(int e=0;e<16;e++)hi[(16*d+e)%D]=std::max(hi[(16*d+e)%D],tmp[e]);}
  for(;i0<tot;i0++){lo[i0%D]=std::min(lo[i0%D],mn[i0]);hi[i0%D]=std::max(hi[i0%D],mx[i0]);}
  float is=1.f/sy;int ny=(int)((hi[1]-lo[1])*is)+1,nz=D==3?(int)((hi[D-1]-lo[D-1])*is)+1:1;size_t ns=(size_t)ny*nz;
  u32*cn=w.cnt.get(ns+2);memset(cn,0,(ns+2)*4);
  for(size_t i=0;i<n;i++){int y0=(int)((mn[i*D+1]-lo[1])*is),y1=(int)((mx[i*D+1]-lo[1])*is);
    if(D==2){cn[y0+1]++;for(int y=y0+1;y<=y1;y++)cn[y+1]++;}
    else{int z0=(int)((mn[i*D+2]-lo[2])*is),z1=(int)((mx[i*D+2]-lo[2])*is);for(int z=z0;z<=z1;z++)for(int y=y0;y<=y1;y++)cn[z*ny+y+1]++;}}
  u32 mxs=0;for(size_t s=0;s<ns;s++){mxs=std::max(mxs,cn[s+1]);cn[s+1]+=cn[s];}size_t m=cn[ns];
  double t1=now();
  R*rc=(R*)w.rec.get((m+64)*sizeof(R));
  // x buckets per strip: B ~ power of two near avg strip count, <=4096
  u32 B=64;while(B<m/ns&&B<4096)B*=2;float qx=(B-1)/(hi[0]-lo[0]+1e-20f);
  for(size_t i=0;i<n;i++){R r;for(int d=0;d<D;d++){r.mn[d]=mn[i*D+d];r.mx[d]=mx[i*D+d];}r.id=i;u32 q=(u32)((r.mn[0]-lo[0])*qx);
    int y0=(int)((r.mn[1]-lo[1])*is),y1=(int)((r.mx[1]-lo[1])*is),z0=0,z1=0;if(D==3){z0=(int)((r.mn[D-1]-lo[D-1])*is);z1=(int)((r.mx[D-1]-lo[D-1])*is);}
    for(int z=z0;z<=z1;z++)for(int y=y0;y<=y1;y++){r.q=q|((y>y0)?0x80000000u:0)|((z>z0)?0x40000000u:0);rc[cn[z*ny+y]++]=r;}}
  double t2=now();
  static Buf<float> F[6];static Buf<u32> KB,KM,ID,CL;static u32 H[4098];size_t c=mxs+64;float*f[6];for(int d=0;d<2*D;d++)f[d]=F[d].get(c);u32*k=KB.get(c),*km=KM.get(c),*id=ID.get(c),*cl=CL.get(c);
  size_t np=0,ocap=w.out.c;u64*o=w.out.p;double ts=0;
  for(size_t s=0,b=0;s<ns;s++){size_t e=cn[s],cs=e-b;R*r=rc+b;b=e;if(cs<2)continue;
    memset(H,0,(B+1)*4);for(size_t i=0;i<cs;i++)H[(r[i].q&0xFFFF)+1]++;for(u32 i=0;i<B;i++)H[i+1]+=H[i];
    for(size_t i=0;i<cs;i++){u32 p=H[r[i].q&0xFFFF]++;for(int d=0;d<D;d++){f[2*d][p]=r[i].mn[d];f[2*d+1][p]=r[i].mx[d];}id[p]=r[i].id;cl[p]=r[i].q&0xC0000000u;k[p]=r[i].q&0xFFFF;km[p]=(u32)((r[i].mx[0]-lo[0])*qx);}
    for(int i=0;i<32;i++){k[cs+i]=0x7FFFFFFF;km[cs+i]=0;}
    for(size_t i=0;i<cs;i+=16){
    __mmask16 lim=cs-i>=16?0xFFFF:(1u<<(cs-i))-1;
    __m512i KMv=_mm512_load_si512(km+i),CI=_mm512_load_si512(cl+i),IDv=_mm512_load_si512(id+i);
    __m512 XL=_mm512_load_ps(f[0]+i),XH=_mm512_load_ps(f[1]+i),YL=_mm512_load_ps(f[2]+i),YH=_mm512_load_ps(f[3]+i),ZL,ZH;if(D==3){ZL=_mm512_load_ps(f[4]+i);ZH=_mm512_load_ps(f[5]+i);}
    if(np+16*4096>ocap){ocap=(np+16*65536)*2;u64*q=(u64*)aligned_alloc(4096,ocap*8);memcpy(q,o,np*8);free(o);o=q;w.out.p=o;w.out.c=ocap;}
    for(size_t j=i+1;;j++){
      __mmask16 act=_mm512_mask_cmple_epu32_mask(lim,_mm512_loadu_si512(k+j),KMv);u32 a=_cvtmask16_u32(act);if(!a)break;
      __m512i sg=_mm512_ternarylogic_epi32(_mm512_castps_si512(_mm512_sub_ps(XH,_mm512_loadu_ps(f[0]+j))),_mm512_castps_si512(_mm512_sub_ps(_mm512_loadu_ps(f[1]+j),XL)),_mm512_castps_si512(_mm512_sub_ps(YH,_mm512_loadu_ps(f[2]+j))),0xFE);
      if(D==3)sg=_mm512_ternarylogic_epi32(sg,_mm512_castps_si512(_mm512_sub_ps(ZH,_mm512_loadu_ps(f[4]+j))),_mm512_castps_si512(_mm512_sub_ps(_mm512_loadu_ps(f[5]+j),ZL)),0xFE);
      __m512i cc=_mm512_and_si512(CI,_mm512_loadu_si512(cl+j));
      sg=_mm512_ternarylogic_epi32(sg,_mm512_castps_si512(_mm512_sub_ps(_mm512_loadu_ps(f[3]+j),YL)),cc,0xFE);
      if(D==3)sg=_mm512_or_si512(sg,_mm512_slli_epi32(cc,1));
      u32 h=a&~_cvtmask16_u32(_mm512_movepi32_mask(sg));
      if(h){__m512i JD=_mm512_loadu_si512(id+j);
        __m512i p0=_mm512_or_si512(_mm512_cvtepu32_epi64(_mm512_castsi512_si256(IDv)),_mm512_slli_epi64(_mm512_cvtepu32_epi64(_mm512_castsi512_si256(JD)),32));
        _mm512_mask_compressstoreu_epi64(o+np,(__mmask8)h,p0);np+=__builtin_popcount(h&255);
        if(h>>8){__m512i p1=_mm512_or_si512(_mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(IDv,1)),_mm512_slli_epi64(_mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(JD,1)),32));
        _mm512_mask_compressstoreu_epi64(o+np,(__mmask8)(h>>8),p1);np+=__builtin_popcount(h>>8);}}
    }}}
  double t3=now();ph[0]=t1-t0;ph[1]=t2-t1;ph[2]=t3-t2;ph[4]=m;ph[6]=t3-t0;return np;}
template<int D> int run(const char*path,float side,int reps){
  FILE*f=fopen(path,"rb");if(!f){perror(path);return 1;}
  fseek(f,0,SEEK_END);size_t n=ftell(f)/(8*D);rewind(f);
  std::vector<float> raw(n*2*D),mn(n*D),mx(n*D);
  if(fread(raw.data(),8*D,n,f)!=n)return 1;fclose(f);
  double ext=0;for(size_t i=0;i<n;i++)for(int d=0;d<D;d++){mn[i*D+d]=raw[i*2*D+d];mx[i*D+d]=raw[i*2*D+D+d];ext=std::max(ext,(double)(mx[i*D+d]-mn[i*D+d]));}
  static W w;w.out.get(n*3+100000);double top[8];top[6]=1e9;size_t np=0;float bs=0;
  std::vector<float> sides;if(side>0)sides={side};else for(float k:{1.3f,2.f,3.f,4.f,6.f,8.f})sides.push_back(k*ext);
  for(float s:sides){double ph[8];for(int r=0;r<reps;r++){np=pairs<D>(mn.data(),mx.data(),n,s,w,ph);if(ph[6]<top[6]){memcpy(top,ph,sizeof ph);bs=s;}}}
  printf("pairs %zu ms %.4f count %.4f scatter %.4f strips %.4f side %g copies %.2f\n",np,top[6]*1e3,top[0]*1e3,top[1]*1e3,top[2]*1e3,bs,top[4]/n);
  return 0;}
int main(int argc,char**argv){
  if(argc<5){fprintf(stderr,"usage: strips D FILE SIDE REPS\n");return 2;}
  int D=atoi(argv[1]);float s=atof(argv[3]);int reps=atoi(argv[4]);
  return D==3?run<3>(argv[2],s,reps):run<2>(argv[2],s,reps);}
